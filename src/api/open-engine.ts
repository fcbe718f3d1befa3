// Where an engine is put together: options, addon, poller, pool.
import { EngineCore } from '../engine/engine-core.js';
import { type EngineOptions, resolveEngineOptions } from '../engine/engine-options.js';
import { requireAddon } from '../engine/providers.js';
import { PiscinaPool } from '../workers/blocking-pool.js';
import { PollerHost } from '../workers/poller-host.js';
import { calledFrom } from './called-from.js';
import { Engine } from './engine.js';

/**
 * Opens an engine: picks a provider, and starts a poller thread. It belongs to the calling thread;
 * each thread may open its own. Close it with `close()`: one that is only dropped is warned of, and
 * stays.
 *
 * @throws ERR_RDMA_INVALID_ARG; ERR_RDMA_NO_DEVICE when the provider that was asked for, or with
 *   `auto` every one, is not available; ERR_RDMA_UNSUPPORTED_PLATFORM or ERR_RDMA_ADDON_LOAD without
 *   native code; ERR_RDMA_OUT_OF_RESOURCES
 */
export async function openEngine(options?: EngineOptions): Promise<Engine> {
  const where = calledFrom(openEngine);
  const resolved = resolveEngineOptions(options);
  const addon = requireAddon();
  const core = await EngineCore.open(resolved, {
    addon,
    startPoller: (start) => new PollerHost(addon, start),
    createPool: () => new PiscinaPool(),
  });
  return new Engine(core, where);
}
