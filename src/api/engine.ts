import type { EngineCore } from '../engine/engine-core.js';
import {
  type CloseOptions,
  type ConnectOptions,
  type ListenOptions,
  type MemoryOptions,
  resolveCloseTimeout,
} from '../engine/engine-options.js';
import type { RdmaError } from '../engine/errors.js';
import type { MemoryRegion } from '../engine/memory-region.js';
import type { EngineStats } from '../engine/stats.js';
import { calledFrom } from './called-from.js';
import { Connection } from './connection.js';
import { destroyError } from './destroy-error.js';
import { type EngineWatch, watchEngine, watchRegion } from './dropped.js';
import { Listener } from './listener.js';

/** The provider that an engine uses. */
export interface EngineProvider {
  /** `shm`, for one. */
  readonly name: string;
  /** Why this one: whole sentences. */
  readonly reason: string;
}

let reachCore: (engine: Engine) => EngineCore;

/**
 * An engine moves bytes for the thread that opened it. It has one poller thread, and does not keep the
 * process alive by itself: its listeners, connections and outstanding operations do. Made by
 * `openEngine()`.
 */
export class Engine implements AsyncDisposable {
  static {
    reachCore = (engine) => engine.#core;
  }

  readonly #core: EngineCore;
  readonly #watch: EngineWatch;

  /** @internal `where`: the line that opened it. */
  constructor(core: EngineCore, where: string) {
    this.#core = core;
    this.#watch = watchEngine(this, core.closed, where);
  }

  get provider(): EngineProvider {
    return this.#core.provider;
  }

  /**
   * Resolves, and never rejects, when nothing of the engine is left: with the error that ended it, or
   * with `undefined` after `close()`.
   */
  get closed(): Promise<RdmaError | undefined> {
    return this.#core.closed;
  }

  /**
   * Listens for connections. A listener keeps the process alive until it is closed or unref'd.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_CLOSED, ERR_RDMA_ADDR_UNRESOLVED, ERR_RDMA_ADDRESS_IN_USE,
   *   ERR_RDMA_ADDRESS_NOT_LOCAL, ERR_RDMA_OUT_OF_RESOURCES
   */
  async listen(options?: ListenOptions): Promise<Listener> {
    return new Listener(await this.#core.listen(options), this.#core, this);
  }

  /**
   * Connects to a listener and resolves when the connection stands. Waits at most `timeoutMs`
   * (default 10,000).
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_CLOSED, ERR_RDMA_ADDR_UNRESOLVED, ERR_RDMA_UNREACHABLE,
   *   ERR_RDMA_REJECTED (`error.privateData` is what came with it), ERR_RDMA_PERMISSION,
   *   ERR_RDMA_PROTOCOL, ERR_RDMA_TIMEOUT, ERR_RDMA_DISCONNECTED, ERR_RDMA_OUT_OF_RESOURCES; an
   *   AbortError when the signal aborts
   */
  async connect(options: ConnectOptions): Promise<Connection> {
    return new Connection(await this.#core.connect(options), this);
  }

  /**
   * Makes memory for operations, all zeros: `byteLength` bytes, 1 to 2^40, whose pages are there when
   * this resolves. It lives until `region.close()` or the engine's end.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_CLOSED, ERR_RDMA_OUT_OF_RESOURCES
   */
  async allocate(byteLength: number, options?: MemoryOptions): Promise<MemoryRegion> {
    const where = calledFrom(this.allocate);
    return watchRegion(this, this.#core.allocate(byteLength, options), where);
  }

  /**
   * Makes a region of memory that the program has: a view of a SharedArrayBuffer of fixed length, such
   * as a WebAssembly memory's (whose `buffer` TypeScript types as an ArrayBuffer: cast it). Other memory
   * can be freed under a running operation and is refused.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_RESIZABLE_BUFFER, ERR_RDMA_CLOSED,
   *   ERR_RDMA_OUT_OF_RESOURCES
   */
  async register(
    view: ArrayBufferView<SharedArrayBuffer>,
    options?: MemoryOptions,
  ): Promise<MemoryRegion> {
    const where = calledFrom(this.register);
    return watchRegion(this, this.#core.register(view, options), where);
  }

  /** Counts since the engine was opened, read from shared memory: cheap, and current. */
  stats(): EngineStats {
    return this.#core.stats();
  }

  /**
   * Closes listeners, connections and regions, in order, then ends the poller. Sends that are posted
   * are waited for, up to `timeoutMs` (1 to 2^31 - 1, default 5,000); then they are flushed.
   * Idempotent.
   *
   * @throws ERR_RDMA_INVALID_ARG; the poller's error if it does not return
   */
  async close(options?: CloseOptions): Promise<void> {
    const timeoutMs = resolveCloseTimeout(options);
    this.#watch.ended = true;
    await this.#core.close(timeoutMs);
  }

  /**
   * The same without waiting for posted work: it is flushed. `error` becomes the reason with which the
   * engine's connections end. Idempotent.
   */
  async destroy(error?: Error): Promise<void> {
    this.#watch.ended = true;
    await this.#core.destroy(destroyError('engine', error));
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What is behind an engine; for this library's own modules and tests. */
export function coreOf(engine: Engine): EngineCore {
  return reachCore(engine);
}
