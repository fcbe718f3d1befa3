// One engine: a lane, its poller, and everything opened on it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { CompletionRing } from './completion-ring.js';
import { Connecting, type ConnectingHost } from './connecting.js';
import type { ConnectionCore } from './connection-core.js';
import type { RequestCore } from './connection-request.js';
import {
  type AcceptOptions,
  type ConnectOptions,
  type ListenOptions,
  type MemoryOptions,
  type RejectOptions,
  type ResolvedEngineOptions,
  resolveAcceptOptions,
  resolveConnectOptions,
  resolveListenOptions,
} from './engine-options.js';
import { errorFromFailure, RdmaError } from './errors.js';
import { KeepAlive } from './keep-alive.js';
import { LaneMemory } from './lane-memory.js';
import { EventKind, PollingMode } from './layout.js';
import { throwIfAborted } from './limit.js';
import type { ListenerCore } from './listener-core.js';
import { Listening } from './listening.js';
import { Memory } from './memory.js';
import type { MemoryRegion, RegionRecord } from './memory-region.js';
import type { NativeAddon, NativeControl, NativeEvent, NativeLane } from './native.js';
import { OperationPool } from './operation.js';
import { OwnerLoop } from './owner-loop.js';
import { PendingTable } from './pending-table.js';
import type { BlockingPool, PollerPort, PollerStart } from './poller-port.js';
import { encodePrivateData, kPrivateDataLimits } from './private-data.js';
import { type ChosenProvider, chooseProvider } from './providers.js';
import { SendBuffers } from './send-buffers.js';
import { type EngineStats, readStats } from './stats.js';
import { SubmissionDoorbell } from './submission-doorbell.js';
import { SubmissionRing } from './submission-ring.js';
import { TimerWheel } from './timer-wheel.js';
import { byteArray, readOptions } from './validate.js';
import type { WorkQueue } from './work-queue.js';

/**
 * Records in the submission ring. It holds what was posted since the last step, not what is in flight;
 * 1,024 is sixteen connections' whole queues, and still fits in a core's second-level cache.
 */
const kSubmissionCapacity = 1024;
/** Until Node 24 a native wake runs in the async context of whoever opened the lane: in none, then. */
const inNoContext = AsyncLocalStorage.snapshot();
/** The poller returns within its longest park, 100 ms; seconds mean that it is stuck. */
const kPollerStopTimeoutMs = 5000;

export interface EngineParts {
  readonly addon: NativeAddon;
  startPoller(start: PollerStart): PollerPort;
  createPool(): BlockingPool;
}

export class EngineCore implements ConnectingHost {
  readonly provider: ChosenProvider;
  readonly native: NativeLane;
  readonly pending: PendingTable;
  readonly submissions: SubmissionRing;
  readonly operations: OperationPool = new OperationPool();
  readonly sendBuffers: SendBuffers;
  readonly timers: TimerWheel = new TimerWheel();
  readonly keepAlive: KeepAlive;
  /** Resolves, and never rejects, when nothing of the engine is left; with the error that ended it. */
  readonly closed: Promise<RdmaError | undefined>;
  readonly #parts: EngineParts;
  readonly #laneMemory: LaneMemory;
  readonly #doorbell: SubmissionDoorbell;
  readonly #loop: OwnerLoop;
  readonly #memory: Memory;
  readonly #pool: BlockingPool;
  readonly #connecting: Connecting;
  readonly #listening: Listening;
  #poller: PollerPort | undefined;
  #drained: { handOverCompletions(): void }[] = [];
  #state: 'open' | 'closing' | 'closed' = 'open';
  #failure: RdmaError | undefined;
  #closing: Promise<void> | undefined;
  #resolveClosed!: (error: RdmaError | undefined) => void;

  static async open(options: ResolvedEngineOptions, parts: EngineParts): Promise<EngineCore> {
    const provider = chooseProvider(parts.addon.listProviders(), options.provider);
    const memory = new LaneMemory({
      submissionCapacity: kSubmissionCapacity,
      completionCapacity: options.maxOperations,
    });
    const wake = { turn: (): void => {} };
    const lane = inNoContext(() =>
      parts.addon.openLane(memory.bytes, provider.name, () => wake.turn()),
    );
    if ('fault' in lane) throw errorFromFailure('openEngine', lane);
    const core = new EngineCore(provider, lane, memory, parts);
    wake.turn = core.#loop.turn;
    try {
      await core.keepAlive.during(core.#start(options));
    } catch (error) {
      await core.destroy();
      throw error instanceof RdmaError ? error : noPoller(error);
    }
    return core;
  }

  private constructor(
    provider: ChosenProvider,
    lane: NativeLane,
    memory: LaneMemory,
    parts: EngineParts,
  ) {
    this.provider = provider;
    this.native = lane;
    this.#parts = parts;
    this.#laneMemory = memory;
    this.pending = new PendingTable(memory.geometry.completionCapacity);
    this.submissions = new SubmissionRing(memory);
    this.#doorbell = new SubmissionDoorbell(memory, this.submissions, {
      ring: () => parts.addon.ring(lane.lane),
      lookAgain: () => this.#loop.turnSoon(),
    });
    this.keepAlive = new KeepAlive((alive) => parts.addon.keepAlive(lane.lane, alive));
    this.#pool = parts.createPool();
    this.#memory = new Memory(this, this.#pool);
    this.sendBuffers = new SendBuffers((byteLength) => this.#memory.allocateInternal(byteLength));
    this.#connecting = new Connecting(this);
    this.#listening = new Listening(this, this.#connecting);
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
    this.#loop = this.#createLoop();
  }

  get addon(): NativeAddon {
    return this.#parts.addon;
  }

  get limits(): NativeLane['limits'] {
    return this.native.limits;
  }

  get lane(): number {
    return this.native.lane;
  }

  // --- what programs ask for ---

  async listen(given?: ListenOptions): Promise<ListenerCore> {
    this.checkOpen('listen');
    return this.keepAlive.during(this.#listening.listen(resolveListenOptions(given)));
  }

  async connect(given: ConnectOptions): Promise<ConnectionCore> {
    this.checkOpen('connect');
    const options = resolveConnectOptions(given, this.limits);
    throwIfAborted('connect', options.wait.signal);
    return this.keepAlive.during(this.#connecting.connect(options));
  }

  async accept(request: RequestCore, given?: AcceptOptions): Promise<ConnectionCore> {
    this.checkOpen('accept');
    const options = resolveAcceptOptions(given, this.limits, request.connection.format);
    throwIfAborted('accept', options.wait.signal);
    request.take('accepted');
    return this.#connecting.accept(request, options);
  }

  async reject(request: RequestCore, given?: RejectOptions): Promise<void> {
    const { privateData } = readOptions('reject', given, ['privateData']);
    const bytes = byteArray('reject: privateData', privateData, kPrivateDataLimits.reject);
    request.take('rejected');
    const { connection } = request;
    const framed = encodePrivateData(bytes, connection.format, 'raw');
    await this.keepAlive.during(connection.reject(framed));
  }

  async allocate(byteLength: number, options?: MemoryOptions): Promise<MemoryRegion> {
    this.checkOpen('allocate');
    return this.keepAlive.during(this.#memory.allocate(byteLength, options));
  }

  async register(view: unknown, options?: MemoryOptions): Promise<MemoryRegion> {
    this.checkOpen('register');
    return this.#memory.register(view, options);
  }

  closeRegion(record: RegionRecord): Promise<void> {
    if (this.#state === 'closed') return Promise.resolve();
    return this.keepAlive.during(this.#memory.close(record));
  }

  stats(): EngineStats {
    return readStats(this.#laneMemory, {
      queueWaits: this.#connecting.queueWaits,
      operationsInFlight: this.pending.inFlight,
      connections: this.#connecting.size,
      listeners: this.#listening.size,
      regions: this.#memory.size,
    });
  }

  close(timeoutMs: number): Promise<void> {
    this.#closing ??= this.keepAlive.during(this.#close(timeoutMs, undefined));
    return this.#closing;
  }

  destroy(error?: RdmaError): Promise<void> {
    this.#closing ??= this.keepAlive.during(this.#close(0, error));
    for (const connection of this.#connecting.all()) connection.destroy(error);
    return this.#closing;
  }

  /** For the tests of this library: makes a labelled point of the native core misbehave. */
  injectFault(point: number, skip: number, count: number, value: number): void {
    this.addon.injectFault(this.lane, point, skip, count, value);
  }

  // --- what its parts need ---

  control(request: NativeControl): void {
    this.addon.control(this.lane, request);
  }

  publish(): void {
    this.#doorbell.publish();
  }

  waitForSpace(queue: WorkQueue): void {
    this.#doorbell.waitForSpace(queue);
  }

  afterDrain(connection: { handOverCompletions(): void }): void {
    this.#drained.push(connection);
  }

  checkOpen(operation: string): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#state !== 'open') throw this.#closedError(operation);
  }

  #closedError(operation: string): RdmaError {
    return new RdmaError(
      'ERR_RDMA_CLOSED',
      `${operation}: the engine is closed. Open another one with openEngine().`,
      { operation },
    );
  }

  // --- the owner's loop ---

  #createLoop(): OwnerLoop {
    return new OwnerLoop(this.#laneMemory, new CompletionRing(this.#laneMemory), {
      onCompletion: (record) => {
        const operation = this.pending.take(record.slot, record.generation);
        operation?.connection.completed(operation, record);
      },
      onDrained: () => this.#onDrained(),
      takeEvents: () => this.addon.takeEvents(this.lane),
      onEvent: (event) => this.#eventHandlers[event.kind]?.(event),
      onSpace: () => this.#doorbell.onSpace(),
      hasSpaceNews: () => this.#doorbell.hasNews,
    });
  }

  #onDrained(): void {
    // What completed made room for what waited.
    this.publish();
    if (this.#drained.length === 0) return;
    const drained = this.#drained;
    this.#drained = [];
    for (const connection of drained) connection.handOverCompletions();
  }

  readonly #eventHandlers: Readonly<Record<number, (event: NativeEvent) => void>> = {
    [EventKind.listening]: (event) => this.#listening.onListening(event),
    [EventKind.listenerClosed]: (event) => this.#listening.onListenerClosed(event),
    [EventKind.connectionRequest]: (event) => this.#listening.onRequest(event),
    [EventKind.established]: (event) => this.#connecting.find(event)?.onEstablished(event),
    [EventKind.disconnected]: (event) => this.#connecting.find(event)?.onDisconnected(event),
    [EventKind.destroyed]: (event) => this.#connecting.find(event)?.onDestroyed(),
    [EventKind.regionReleased]: (event) => this.#memory.onReleased(event),
  };

  // --- beginning and end ---

  async #start(options: ResolvedEngineOptions): Promise<void> {
    this.#loop.start();
    this.#poller = this.#parts.startPoller({
      lane: this.lane,
      memory: this.#laneMemory.bytes,
      mode: PollingMode[options.polling],
      spinNanoseconds: options.spinNanoseconds,
      onUnexpectedExit: (cause) => this.#onPollerExited(cause),
    });
    await this.#poller.ready;
  }

  #onPollerExited(cause: Error): void {
    const error = new RdmaError(
      'ERR_RDMA_POLLER_EXITED',
      `The poller ended: ${cause.message}. Open a new engine.`,
      { cause },
    );
    this.#failure = error;
    this.#loop.stop();
    for (const connection of this.#connecting.all()) connection.abandonAll(error);
    this.#listening.forgetAll(error);
    this.#memory.forgetAll();
    this.destroy(error).catch(() => {});
  }

  async #close(timeoutMs: number, error: RdmaError | undefined): Promise<void> {
    this.#state = 'closing';
    if (this.#failure === undefined) await this.#closeObjects(timeoutMs, error);
    try {
      // Together: a job of the pool that takes long ends early once the lane is told to stop.
      const stopped = this.#poller?.stop(kPollerStopTimeoutMs);
      await Promise.all([stopped, this.#pool.close()]);
      this.addon.closeLane(this.lane);
    } catch (cause) {
      // The poller still uses the lane: native code is left as it is.
      throw new RdmaError(
        'ERR_RDMA_DRAIN_TIMEOUT',
        `The poller did not return within ${kPollerStopTimeoutMs} ms. Its memory and native objects ` +
          'are kept; restart the process to get them back.',
        { operation: 'close', cause },
      );
    } finally {
      this.#loop.stop();
      this.#listening.forgetAll(this.#closedError('listen'));
      this.#memory.forgetAll();
      this.#state = 'closed';
      this.#resolveClosed(this.#failure ?? error);
    }
  }

  async #closeObjects(timeoutMs: number, error: RdmaError | undefined): Promise<void> {
    const connections = this.#connecting.all().map(async (connection) => {
      if (timeoutMs === 0) connection.destroy(error);
      else await connection.close(timeoutMs).catch(() => {});
      await connection.gone;
    });
    await Promise.all([...this.#listening.close(), ...connections]);
  }
}

function noPoller(cause: unknown): RdmaError {
  return new RdmaError(
    'ERR_RDMA_OUT_OF_RESOURCES',
    'openEngine: the poller thread could not be started; error.cause says why. Raise the limits of ' +
      'descriptors and threads (ulimit -n, ulimit -u).',
    { operation: 'openEngine', cause },
  );
}
