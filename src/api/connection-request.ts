import type { Peer } from '../engine/address.js';
import type { RequestCore } from '../engine/connection-request.js';
import type { EngineCore } from '../engine/engine-core.js';
import type { AcceptOptions, RejectOptions } from '../engine/engine-options.js';
import { Connection } from './connection.js';
import type { Engine } from './engine.js';

/** A peer that wants to connect. Answer it once, within 10 s; after that it is rejected. */
export class ConnectionRequest {
  readonly #request: RequestCore;
  readonly #core: EngineCore;
  readonly #engine: Engine;

  /** @internal */
  constructor(request: RequestCore, core: EngineCore, engine: Engine) {
    this.#request = request;
    this.#core = core;
    this.#engine = engine;
  }

  /** Who asks; with `shm` its process and user as well, as the kernel tells them. */
  get peer(): Peer {
    return this.#request.peer;
  }

  /** What the peer gave to `connect()`; at most 52 bytes, from the peer and so not to be trusted. */
  get privateData(): Uint8Array {
    return this.#request.privateData;
  }

  /**
   * Resolves when the connection stands. Waits at most `timeoutMs` (default 10,000).
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_INVALID_STATE when it was answered before,
   *   ERR_RDMA_CLOSED, ERR_RDMA_DISCONNECTED, ERR_RDMA_TIMEOUT, ERR_RDMA_OUT_OF_RESOURCES; an
   *   AbortError when the signal aborts
   */
  async accept(options?: AcceptOptions): Promise<Connection> {
    return new Connection(await this.#core.accept(this.#request, options), this.#engine);
  }

  /**
   * The peer's `connect()` rejects with ERR_RDMA_REJECTED and these private data, at most 144 bytes.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_INVALID_STATE when it was answered before
   */
  async reject(options?: RejectOptions): Promise<void> {
    await this.#core.reject(this.#request, options);
  }
}
