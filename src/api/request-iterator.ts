// One loop over a listener's requests.
import type { RequestCore } from '../engine/connection-request.js';
import type { EngineCore } from '../engine/engine-core.js';
import type { ListenerCore } from '../engine/listener-core.js';
import { ConnectionRequest } from './connection-request.js';
import type { Engine } from './engine.js';

type Result = IteratorResult<ConnectionRequest, undefined>;
type Settle = (result: Result) => void;

export class RequestIterator implements AsyncIterableIterator<ConnectionRequest> {
  readonly #listener: ListenerCore;
  readonly #core: EngineCore;
  readonly #engine: Engine;
  /** Calls of next() that are not answered yet. */
  readonly #waiting = new Set<Settle>();
  #left = false;

  constructor(listener: ListenerCore, core: EngineCore, engine: Engine) {
    this.#listener = listener;
    this.#core = core;
    this.#engine = engine;
  }

  next(): Promise<Result> {
    if (this.#left) return Promise.resolve(done());
    return new Promise((settle) => {
      this.#waiting.add(settle);
      void this.#listener.next().then((request) => this.#answer(settle, request));
    });
  }

  /** Leaves the loop: calls that wait end, and what still comes for them goes to other loops. */
  return(): Promise<Result> {
    this.#left = true;
    for (const settle of this.#waiting) settle(done());
    this.#waiting.clear();
    return Promise.resolve(done());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #answer(settle: Settle, request: RequestCore | undefined): void {
    if (!this.#waiting.delete(settle)) {
      if (request !== undefined) this.#listener.putBack(request);
    } else if (request === undefined) {
      settle(done());
    } else {
      settle({ done: false, value: new ConnectionRequest(request, this.#core, this.#engine) });
    }
  }
}

function done(): Result {
  return { done: true, value: undefined };
}
