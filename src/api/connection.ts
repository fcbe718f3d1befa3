import type { Observable } from 'rxjs';
import type { Address, Peer } from '../engine/address.js';
import type { CloseReason, ConnectionCore, ConnectionState } from '../engine/connection-core.js';
import { type CloseOptions, resolveCloseTimeout } from '../engine/engine-options.js';
import type { OperationOptions, PostRequest, SendOptions } from '../engine/operation-options.js';
import type { ReceiveTarget, SendSource } from '../engine/segments.js';
import type { WorkCompletion } from '../engine/work-completion.js';
import { ConnectionCompletions } from './connection-completions.js';
import { ConnectionStates, type StateChange } from './connection-states.js';
import { destroyError } from './destroy-error.js';
import type { Engine } from './engine.js';

/**
 * A reliable, ordered connection: a message that is sent arrives once, in one receive of the peer. It
 * keeps the process alive until it is closed or unref'd. Made by `engine.connect()` and
 * `request.accept()`.
 *
 * Methods that return promises never throw, they reject. What fails because the connection ended is
 * rejected already marked as handled: an `await` throws, but a promise that nobody looks at does not
 * end the process. `closed` and `state$` say why the connection ended.
 */
export class Connection implements AsyncDisposable {
  readonly #core: ConnectionCore;
  readonly #states: ConnectionStates;
  #completions: ConnectionCompletions | undefined;
  /** The engine that opened it. */
  readonly engine: Engine;

  /** @internal */
  constructor(core: ConnectionCore, engine: Engine) {
    this.#core = core;
    this.engine = engine;
    this.#states = new ConnectionStates(core);
  }

  get localAddress(): Address {
    return this.#core.localAddress;
  }

  /** The other side; with `shm` its process and user as well, as the kernel tells them. */
  get peer(): Peer {
    return this.#core.peer;
  }

  /** What the peer gave to `connect()` (at most 52 bytes) or `accept()` (192); not to be trusted. */
  get privateData(): Uint8Array {
    return this.#core.privateData;
  }

  get state(): ConnectionState {
    return this.#core.state;
  }

  /**
   * The state now, then every change; ends after `closed`, whose value carries the reason, and never
   * errors. Subscribers run in the async context in which the connection was opened.
   */
  get state$(): Observable<StateChange> {
    return this.#states.observable;
  }

  /**
   * Every completion, in arrays: one for each time that the engine found some. Nothing is collected
   * while nobody is subscribed. Ends with the connection, and never errors. Subscribers run in the
   * async context in which the connection was opened, and may keep the completions.
   */
  get completions$(): Observable<WorkCompletion[]> {
    this.#completions ??= new ConnectionCompletions(this.#core, this.#states, this);
    return this.#completions.observable;
  }

  /** Resolves with how the connection ended; never rejects. */
  get closed(): Promise<CloseReason> {
    return this.#core.closed;
  }

  /**
   * Sends one message: a slice of a region, a byte array, or up to 4 of them as one. Resolves when the
   * peer has it; slices must not change before. Byte arrays are copied at the call. A message of zero
   * bytes is one too. With `signaled: false` it resolves when the message is queued: see `flush()`.
   *
   * At most `sendDepth` sends are posted at once (default 64), at most `maxQueued` (default 4096) wait
   * behind them, in order.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_OUT_OF_BOUNDS above the provider's longest message,
   *   ERR_RDMA_NOT_REGISTERED when a slice's region is closed, ERR_RDMA_QUEUE_FULL (await `ready()`),
   *   ERR_RDMA_WC_REM_INV_REQ when the peer's receive is too short, another ERR_RDMA_WC_* for the
   *   status with which it completed, ERR_RDMA_DISCONNECTED, ERR_RDMA_CLOSED. ERR_RDMA_TIMEOUT and
   *   AbortErrors end the wait, not the work: their `settled` says when the memory is free again.
   */
  send(source: SendSource, options: SendOptions & { readonly signaled: false }): Promise<void>;
  send(
    source: SendSource,
    options?: SendOptions & { readonly signaled?: true | undefined },
  ): Promise<WorkCompletion>;
  send(source: SendSource, options?: SendOptions): Promise<WorkCompletion | undefined>;
  send(source: SendSource, options?: SendOptions): Promise<unknown> {
    return this.#core.send(source, options);
  }

  /**
   * Posts a receive into a slice, or up to 4, and resolves with the next message: calls are served in
   * the order in which they were made. When messages arrived that nobody waited for, it takes the
   * oldest of them, and the slice that it posted serves a later call. So take `completion.bytes`, not
   * the slice that was passed. Without a slice it waits for a receive that was posted before.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_NOT_REGISTERED, ERR_RDMA_QUEUE_FULL,
   *   ERR_RDMA_INVALID_STATE without a slice when no posted receive is left,
   *   ERR_RDMA_WC_LOC_LEN when the message is longer than the slice, ERR_RDMA_DISCONNECTED,
   *   ERR_RDMA_CLOSED. ERR_RDMA_TIMEOUT and AbortErrors end the wait, not the work: a message that
   *   arrives later goes to the next call.
   */
  receive(target?: ReceiveTarget, options?: OperationOptions): Promise<WorkCompletion> {
    return this.#core.receive(target, options);
  }

  /**
   * Posts several operations, all or none, at the cost of one. Resolves when all have completed, with
   * their completions in the same order; rejects with the first failure, after all have ended.
   *
   * @throws as `send()` and `receive()` do
   */
  post(requests: readonly PostRequest[], options?: OperationOptions): Promise<WorkCompletion[]> {
    return this.#core.post(requests, options);
  }

  /**
   * Resolves when every send so far has completed, those with `signaled: false` included; rejects with
   * what failed.
   */
  flush(): Promise<void> {
    return this.#core.flush();
  }

  /** Resolves when `send()` and `receive()` take more work; rejects when the connection ended. */
  ready(): Promise<void> {
    return this.#core.ready();
  }

  /**
   * Refuses new work, flushes posted receives, waits for posted sends, then disconnects, so that the
   * peer gets everything. After `timeoutMs` (1 to 2^31 - 1, default 5,000) the rest is flushed.
   * Idempotent.
   *
   * @throws ERR_RDMA_INVALID_ARG, ERR_RDMA_TIMEOUT
   */
  async close(options?: CloseOptions): Promise<void> {
    await this.#core.close(resolveCloseTimeout(options));
  }

  /**
   * Ends the connection now, flushes all work, and resolves when nothing is left of it. `error` is
   * then what pending work is rejected with, and the reason in `closed`. Idempotent.
   */
  async destroy(error?: Error): Promise<void> {
    this.#core.destroy(destroyError('connection', error));
    await this.#core.gone;
  }

  /** Lets the connection keep the process alive, which is the default. */
  ref(): this {
    this.#core.ref();
    return this;
  }

  /** Lets the process end though the connection is open, unless a send is outstanding. */
  unref(): this {
    this.#core.unref();
    return this;
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
