import type { Address } from '../engine/address.js';
import type { EngineCore } from '../engine/engine-core.js';
import type { ListenerCore } from '../engine/listener-core.js';
import type { ConnectionRequest } from './connection-request.js';
import type { Engine } from './engine.js';
import { RequestIterator } from './request-iterator.js';

/**
 * Requests to connect, in the order in which they came: `for await (const request of listener)`. The
 * loop ends when the listener is closed; leaving the loop leaves it open. Of several loops each gets
 * its share. Made by `engine.listen()`.
 */
export class Listener implements AsyncDisposable {
  readonly #listener: ListenerCore;
  readonly #core: EngineCore;
  readonly #engine: Engine;

  /** @internal */
  constructor(listener: ListenerCore, core: EngineCore, engine: Engine) {
    this.#listener = listener;
    this.#core = core;
    this.#engine = engine;
  }

  /** Where it listens; the port is the one in use, also when 0 was asked for. */
  get address(): Address {
    return this.#listener.address;
  }

  /** Resolves, and never rejects, when it listens no more. */
  get closed(): Promise<void> {
    return this.#listener.closed;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<ConnectionRequest> {
    return new RequestIterator(this.#listener, this.#core, this.#engine);
  }

  /**
   * Stops listening and rejects the requests that nobody took. Connections that were accepted stay.
   * Idempotent.
   */
  close(): Promise<void> {
    return this.#listener.close();
  }

  /** Lets the listener keep the process alive, which is the default. */
  ref(): this {
    this.#listener.ref();
    return this;
  }

  /** Lets the process end though the listener is open. */
  unref(): this {
    this.#listener.unref();
    return this;
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
