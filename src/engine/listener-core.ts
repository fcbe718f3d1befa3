// A listener: its requests in order, and who waits for them.
import type { Address } from './address.js';
import type { RequestCore } from './connection-request.js';
import type { KeepAlive } from './keep-alive.js';
import type { NativeHandle } from './native.js';

export class ListenerCore {
  readonly slot: number;
  readonly generation: number;
  address: Address = { host: '', port: 0 };
  /** Resolves when it listens no more. */
  readonly closed: Promise<void>;
  #state: 'listening' | 'closing' | 'closed' = 'listening';
  readonly #keepAlive: KeepAlive;
  readonly #requests: RequestCore[] = [];
  readonly #waiters: ((request: RequestCore | undefined) => void)[] = [];
  readonly #requestClose: () => void;
  #resolveClosed!: () => void;
  #referenced = true;

  /** `requestClose` asks native code to stop listening; onClosed() follows. */
  constructor(handle: NativeHandle, keepAlive: KeepAlive, requestClose: () => void) {
    this.slot = handle.slot;
    this.generation = handle.generation;
    this.#keepAlive = keepAlive;
    this.#requestClose = requestClose;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    keepAlive.add();
  }

  get listening(): boolean {
    return this.#state === 'listening';
  }

  ref(): void {
    if (!this.#referenced && this.#state !== 'closed') this.#keepAlive.add();
    this.#referenced = true;
  }

  unref(): void {
    if (this.#referenced && this.#state !== 'closed') this.#keepAlive.remove();
    this.#referenced = false;
  }

  /** The next request, or `undefined` once the listener is closed. */
  next(): Promise<RequestCore | undefined> {
    const request = this.#requests.shift();
    if (request !== undefined) return Promise.resolve(request);
    if (this.#state !== 'listening') return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  /** A reader that had left got it after all: it is first in line again. */
  putBack(request: RequestCore): void {
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter(request);
    else if (this.#state === 'closed') refuse(request);
    else this.#requests.unshift(request);
  }

  push(request: RequestCore): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#requests.push(request);
    else waiter(request);
  }

  /** The peer withdrew it, or its time is up. */
  remove(request: RequestCore): void {
    const index = this.#requests.indexOf(request);
    if (index >= 0) this.#requests.splice(index, 1);
  }

  close(): Promise<void> {
    if (this.#state === 'listening') {
      this.#state = 'closing';
      this.#requestClose();
    }
    return this.closed;
  }

  onClosed(): void {
    if (this.#state === 'closed') return;
    if (this.#referenced) this.#keepAlive.remove();
    this.#state = 'closed';
    for (const request of this.#requests.splice(0)) refuse(request);
    for (const waiter of this.#waiters.splice(0)) waiter(undefined);
    this.#resolveClosed();
  }
}

/** Nobody will answer it here. */
function refuse(request: RequestCore): void {
  request.take('rejected');
  void request.connection.reject(new Uint8Array(0));
}
