// One connection: its life, from request or connect() to the end. The work on it is in
// connection-work.ts.
//
//   connecting ──established──▶ connected ──close()──▶ closing ──▶ closed
//        └───────────── failure, destroy(), the peer ─────────────────┘
//
// The end comes in two steps. kDisconnected (or kDestroyed): native code has published every
// completion, so whatever still waits here is rejected with the cause, and the state is `closed`.
// kDestroyed: nothing native is left, and the op slots go back.
import type { Address, Peer } from './address.js';
import type { ConnectionDepths, ConnectionHost } from './connection-host.js';
import { ConnectionWork } from './connection-work.js';
import { errorFromFailure, RdmaError } from './errors.js';
import { ControlKind } from './layout.js';
import { Limit, timeoutError, type WaitOptions } from './limit.js';
import type { NativeControl, NativeEvent, NativeHandle } from './native.js';
import { decodePrivateData, type PrivateDataFormat } from './private-data.js';
import { Fault } from './status.js';

/** Native objects go away at once; five seconds mean that something is stuck for good. */
const kDestroyTimeoutMs = 5000;

export type ConnectionState = 'connecting' | 'connected' | 'closing' | 'closed';

/** How a connection ended: by `close()` here, by the peer's `close()`, or by an error. */
export interface CloseReason {
  readonly by: 'local' | 'peer' | 'error';
  readonly error?: RdmaError;
}

const kDestroy = { kind: ControlKind.destroy } as const;
const kNoAddress: Address = { host: '', port: 0 };

export class ConnectionCore extends ConnectionWork {
  readonly slot: number;
  readonly generation: number;
  /** Told of every change of state; the last one comes with the reason. */
  onState: ((state: ConnectionState, reason?: CloseReason) => void) | undefined;
  /** Resolves with how the connection ended; never rejects. */
  readonly closed: Promise<CloseReason>;
  localAddress: Address = kNoAddress;
  peer: Peer = kNoAddress;
  /** What came with the accept (active side) or the request (passive side). */
  privateData: Uint8Array = new Uint8Array(0);
  readonly format: PrivateDataFormat;
  /** Op slots that were reserved for it. */
  reservedSlots = 0;
  #state: ConnectionState = 'connecting';
  /** `connect` or `accept` while that is going on. */
  #operation = 'connection';
  #established: { resolve: () => void; reject: (error: Error) => void } | undefined;
  #closing: Promise<void> | undefined;
  #closeError: RdmaError | undefined;
  #closedHere: RdmaError | undefined;
  #destroying = false;
  #destroyError: RdmaError | undefined;
  #resolveClosed!: (reason: CloseReason) => void;
  readonly #gone: Promise<void>;
  #resolveGone!: () => void;
  readonly #onGone: (connection: ConnectionCore) => void;
  #referenced: boolean;
  #keepsAlive = false;

  constructor(
    host: ConnectionHost,
    handle: NativeHandle,
    depths: ConnectionDepths,
    options: { readonly format: PrivateDataFormat; readonly referenced: boolean },
    onGone: (connection: ConnectionCore) => void,
  ) {
    super(host, depths);
    this.slot = handle.slot;
    this.generation = handle.generation;
    this.format = options.format;
    this.#referenced = options.referenced;
    this.#onGone = onGone;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    this.updateKeepAlive();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Resolves when nothing native is left of the connection. */
  get gone(): Promise<void> {
    return this.#gone;
  }

  ref(): void {
    this.#referenced = true;
    this.updateKeepAlive();
  }

  unref(): void {
    this.#referenced = false;
    this.updateKeepAlive();
  }

  /**
   * Sends a connect or accept request and resolves when the connection stands. A failure, the signal
   * or the timeout ends the connection.
   */
  establish(
    operation: string,
    request: Omit<NativeControl, 'slot' | 'generation'>,
    options: WaitOptions,
  ): Promise<void> {
    if (this.#state === 'closed') return Promise.reject(this.endError());
    this.#operation = operation;
    return new Promise((resolve, reject) => {
      const limit = new Limit(operation, this.host.timers, options, (makeError) => {
        const error = makeError();
        this.#established = undefined;
        this.destroy(error instanceof RdmaError ? error : undefined);
        reject(error);
      });
      const settle = <T>(end: (value: T) => void) => {
        return (value: T): void => {
          limit.clear();
          end(value);
        };
      };
      this.#established = { resolve: settle(resolve) as () => void, reject: settle(reject) };
      this.#control(request);
    });
  }

  /** Answers a request with no; resolves when nothing native is left. */
  reject(privateData: Uint8Array): Promise<void> {
    this.#destroyNative({ kind: ControlKind.reject, privateData });
    return this.#gone;
  }

  onEstablished(event: NativeEvent): void {
    if (this.#state !== 'connecting' || this.#destroying) return;
    this.localAddress = event.localAddress;
    this.peer = event.peer;
    try {
      // The passive side has its private data from the request.
      if (this.#operation === 'connect') {
        this.privateData = decodePrivateData(event.privateData, this.format).bytes;
      }
    } catch (error) {
      this.destroy(error as RdmaError);
      return;
    }
    this.#operation = 'connection';
    this.#setState('connected');
    this.#established?.resolve();
    this.#established = undefined;
  }

  onDisconnected(event: NativeEvent): void {
    const { fault } = event.failure;
    if (fault === Fault.closedLocally) this.#end({ by: 'local' });
    else if (fault === Fault.peerClosed) this.#end({ by: 'peer' }, this.#failure(event));
    else {
      const error = this.cause ?? this.#failure(event);
      this.#end({ by: 'error', error }, error);
    }
    this.#destroyNative();
  }

  onDestroyed(): void {
    const error = this.#destroyError;
    this.#end(error === undefined ? { by: 'local' } : { by: 'error', error }, error);
    this.#resolveGone();
    this.#onGone(this);
  }

  /** The engine itself failed: nothing more will come from native code. */
  abandonAll(error: RdmaError): void {
    this.#end({ by: 'error', error }, error);
    this.failPosted(error);
    this.#resolveGone();
    this.#onGone(this);
  }

  close(timeoutMs: number): Promise<void> {
    if (this.#state === 'closed' || this.#destroying) return this.#gone;
    this.#closeTimeout(timeoutMs);
    this.#closing ??= this.host.keepAlive.during(this.#close());
    return this.#closing;
  }

  /** Each call has its own deadline; the first to pass ends what is left. */
  #closeTimeout(timeoutMs: number): void {
    void this.#within(timeoutMs, this.closed).then((inTime) => {
      if (inTime || this.#destroying) return;
      this.#closeError = timeoutError('close', timeoutMs);
      this.destroy(this.#closeError);
    });
  }

  /** Ends the connection now; everything posted is flushed. */
  destroy(error?: RdmaError): void {
    if (this.#state === 'closed' || this.#destroying) return;
    this.#destroyError = error;
    this.#destroyNative();
    this.refuseWaiting(this.endError());
  }

  async #close(): Promise<void> {
    if (this.#state === 'connecting') {
      this.destroy();
      return this.#gone;
    }
    this.#setState('closing');
    this.refuseWaitingReceives(this.endError());
    this.#control({ kind: ControlKind.flushReceives });
    await Promise.race([this.sendsIdle(), this.closed]);
    if (this.#state !== 'closed' && !this.#destroying) {
      this.#control({ kind: ControlKind.disconnect });
      await this.closed;
    }
    await this.#gone;
    if (this.#closeError !== undefined) throw this.#closeError;
  }

  /** False when `timeoutMs` passed first. */
  #within(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
    return new Promise((resolve) => {
      const limit = new Limit('close', this.host.timers, { timeoutMs }, () => resolve(false));
      void work.then(() => {
        limit.clear();
        resolve(true);
      });
    });
  }

  /** Bounded: what native code never gives back is given up, loudly. */
  #destroyNative(request: Omit<NativeControl, 'slot' | 'generation'> = kDestroy): void {
    if (this.#destroying) return;
    this.#destroying = true;
    this.#control(request);
    void this.host.keepAlive.during(this.#within(kDestroyTimeoutMs, this.#gone)).then((inTime) => {
      if (!inTime) this.#stuck();
    });
  }

  /** Memory and native objects are kept: whoever still uses them must not find them reused. */
  #stuck(): void {
    const error = new RdmaError(
      'ERR_RDMA_DRAIN_TIMEOUT',
      `The connection's posted work was not returned within ${kDestroyTimeoutMs} ms. Its memory ` +
        'and native objects are kept; restart the process to get them back.',
      { operation: 'destroy', ...this.addresses() },
    );
    process.emitWarning(error);
    this.#end({ by: 'error', error }, error);
    this.failPosted(error);
    this.#resolveGone();
  }

  #end(reason: CloseReason, error?: RdmaError): void {
    if (this.#state === 'closed') return;
    this.cause ??= error ?? this.#closedError();
    this.#state = 'closed';
    this.failAll(this.cause);
    this.#established?.reject(this.cause);
    this.#established = undefined;
    this.updateKeepAlive();
    this.#resolveClosed(reason);
    this.onState?.('closed', reason);
  }

  #setState(state: ConnectionState): void {
    this.#state = state;
    this.onState?.(state);
  }

  protected override get acceptsSends(): boolean {
    return this.#state === 'connected' && !this.#destroying;
  }

  protected override get acceptsReceives(): boolean {
    return (this.#state === 'connected' || this.#state === 'connecting') && !this.#destroying;
  }

  protected override endError(): RdmaError {
    if (this.#state === 'connecting' && !this.#destroying) {
      return new RdmaError(
        'ERR_RDMA_INVALID_STATE',
        'The connection is not established yet. Await connect() or accept() first.',
        this.addresses(),
      );
    }
    return this.cause ?? this.#destroyError ?? this.#closedError();
  }

  protected override isEnd(error: unknown): boolean {
    return error === this.cause || error === this.#destroyError || error === this.#closedHere;
  }

  protected override get endIsKnown(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  protected override get isClosing(): boolean {
    return this.#state === 'closing' && !this.#destroying;
  }

  protected override updateKeepAlive(): void {
    const open = this.#state !== 'closed';
    const wanted = open && (this.#referenced || this.sends.outstanding > 0);
    if (wanted === this.#keepsAlive) return;
    this.#keepsAlive = wanted;
    if (wanted) this.host.keepAlive.add();
    else this.host.keepAlive.remove();
  }

  #closedError(): RdmaError {
    this.#closedHere ??= new RdmaError(
      'ERR_RDMA_CLOSED',
      'The connection was closed on this side. Open another one if there is more to do.',
      this.addresses(),
    );
    return this.#closedHere;
  }

  #failure(event: NativeEvent): RdmaError {
    const rejected = event.failure.fault === Fault.rejected;
    return errorFromFailure(this.#operation, event.failure, {
      ...this.addresses(),
      privateData: rejected ? this.#rejectData(event.privateData) : undefined,
    });
  }

  /** What a peer that is not this library sent with its reject is given as it is. */
  #rejectData(received: Uint8Array): Uint8Array {
    try {
      return decodePrivateData(received, this.format).bytes;
    } catch {
      return received;
    }
  }

  protected override addresses(): { localAddress?: Address; remoteAddress?: Address } {
    return this.peer === kNoAddress
      ? {}
      : { localAddress: this.localAddress, remoteAddress: this.peer };
  }

  #control(request: Omit<NativeControl, 'slot' | 'generation'>): void {
    this.host.control({ ...request, slot: this.slot, generation: this.generation });
  }
}
