// Warns when the program lost an engine or a region that it did not close. Nothing is freed then: its
// memory may be in use by a peer, and whether it is, only the program can say.
import type { MemoryRegion, RegionRecord } from '../engine/memory-region.js';
import type { Engine } from './engine.js';

/** What is kept of an engine; it must not lead to the Engine, or that would never be collected. */
export interface EngineWatch {
  readonly where: string;
  /** close() or destroy() was called, or the engine ended by itself. */
  ended: boolean;
}

interface RegionWatch {
  readonly where: string;
  readonly record: RegionRecord;
}

const registry = new FinalizationRegistry<EngineWatch | RegionWatch>((watch) => {
  if ('record' in watch) warnOfRegion(watch);
  else warnOfEngine(watch);
});

/** Whoever holds a region holds its engine. */
const engines = new WeakMap<MemoryRegion, Engine>();

/** `where`: the line that opened it. */
export function watchEngine(engine: Engine, closed: Promise<unknown>, where: string): EngineWatch {
  const watch: EngineWatch = { where, ended: false };
  registry.register(engine, watch);
  void closed.then(() => {
    watch.ended = true;
  });
  return watch;
}

/** Watches the region that comes of `made`, asked for at `where`. */
export async function watchRegion(
  engine: Engine,
  made: Promise<MemoryRegion>,
  where: string,
): Promise<MemoryRegion> {
  const region = await made;
  engines.set(region, engine);
  registry.register(region, { where, record: region.record });
  return region;
}

function warnOfEngine({ where, ended }: EngineWatch): void {
  if (ended) return;
  process.emitWarning(
    `An engine opened at ${where} was garbage-collected without close(). Its poller and its memory ` +
      'stay until the process ends. Call engine.close() when it is no longer needed.',
    { type: 'RdmaWarning', code: 'RDMA_ENGINE_NOT_CLOSED' },
  );
}

function warnOfRegion({ where, record }: RegionWatch): void {
  if (record.state !== 'open') return;
  process.emitWarning(
    `A region of ${record.byteLength} bytes made at ${where} was garbage-collected without close(). ` +
      'Its memory stays until the engine is closed. Call region.close() when it is no longer needed.',
    { type: 'RdmaWarning', code: 'RDMA_REGION_NOT_CLOSED' },
  );
}
