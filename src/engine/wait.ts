// What an awaited operation's caller holds: a promise, and what may end it early. Pooled like the
// operations. A wait that ends early (abort, timeout) leaves its operation to complete alone.
import type { Batch } from './batch.js';
import { Limit, type MakeEndError, type WaitOptions } from './limit.js';
import type { Operation } from './operation.js';
import type { TimerWheel } from './timer-wheel.js';
import { type OperationName, WorkCompletion } from './work-completion.js';

/** The connection, as a wait sees it. */
export interface WaitOwner {
  readonly timers: TimerWheel;
  /** Lets go of the wait. True: its operation was not yet posted, and is removed for good. */
  abandon(wait: Wait): boolean;
}

type Resolve = (completion: WorkCompletion) => void;
type Reject = (error: Error) => void;

// One executor for all promises: a closure per operation would be one more object per operation.
let lastResolve: Resolve | undefined;
let lastReject: Reject | undefined;
function executor(resolve: Resolve, reject: Reject): void {
  lastResolve = resolve;
  lastReject = reject;
}

function nothing(): void {}

/** Marks a promise as handled: an `await` still throws, but nobody's process ends for it. */
export function markHandled(promise: Promise<unknown>): void {
  promise.catch(nothing);
}

export class Wait {
  owner: WaitOwner | undefined = undefined;
  name: OperationName = 'send';
  /** The operation that this call posted, until it completes. */
  operation: Operation | undefined = undefined;
  /** A receive whose own slice completed for an earlier waiter: what happened to it. */
  ownCompletion: WorkCompletion | undefined = undefined;
  // Neighbours among the waiting receives.
  next: Wait | undefined = undefined;
  previous: Wait | undefined = undefined;
  #promise: Promise<WorkCompletion> | undefined = undefined;
  #resolve: Resolve | undefined = undefined;
  #reject: Reject | undefined = undefined;
  #batch: Batch | undefined = undefined;
  #batchIndex = 0;
  #limit: Limit | undefined = undefined;

  start(owner: WaitOwner, name: OperationName): Promise<WorkCompletion> {
    this.owner = owner;
    this.name = name;
    const promise = new Promise<WorkCompletion>(executor);
    this.#promise = promise;
    this.#resolve = lastResolve;
    this.#reject = lastReject;
    // They would keep the last promise, and what it resolved with, alive.
    lastResolve = undefined;
    lastReject = undefined;
    return promise;
  }

  startInBatch(owner: WaitOwner, name: OperationName, batch: Batch, index: number): void {
    this.owner = owner;
    this.name = name;
    this.#batch = batch;
    this.#batchIndex = index;
    batch.join(index, this);
  }

  /** From now on the signal or the clock may end the wait. */
  limit(options: WaitOptions): void {
    this.#limit = new Limit(this.name, (this.owner as WaitOwner).timers, options, (makeError) =>
      this.#endEarly(makeError),
    );
  }

  settle(completion: WorkCompletion): void {
    const resolve = this.#resolve;
    const batch = this.#batch;
    const index = this.#batchIndex;
    this.#release();
    if (batch === undefined) resolve?.(completion);
    else batch.settle(index, completion);
  }

  /** `handled`: the failure is the connection's, and is told there. */
  fail(error: Error, handled: boolean): void {
    const reject = this.#reject;
    const promise = this.#promise;
    const batch = this.#batch;
    const index = this.#batchIndex;
    this.#release();
    if (batch !== undefined) {
      batch.fail(index, error, handled);
      return;
    }
    if (handled) markHandled(promise as Promise<WorkCompletion>);
    reject?.(error);
  }

  /** Ends the wait without a word; resolves when its operation's memory is free again. */
  abandon(): Promise<WorkCompletion> {
    const { operation, ownCompletion, name } = this;
    const removed = (this.owner as WaitOwner).abandon(this);
    this.#release();
    if (ownCompletion !== undefined) return Promise.resolve(ownCompletion);
    if (removed || operation === undefined) {
      return Promise.resolve(
        new WorkCompletion(name, 'not-posted', 0, undefined, 0, undefined, undefined),
      );
    }
    return new Promise((resolve) => {
      operation.settle = resolve;
    });
  }

  #endEarly(makeError: MakeEndError): void {
    const reject = this.#reject;
    reject?.(makeError(this.abandon()));
  }

  #release(): void {
    this.#limit?.clear();
    this.#limit = undefined;
    if (this.operation !== undefined) this.operation.wait = undefined;
    this.owner = undefined;
    this.operation = undefined;
    this.ownCompletion = undefined;
    this.#promise = undefined;
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#batch = undefined;
    free.push(this);
  }
}

const free: Wait[] = [];

export function takeWait(): Wait {
  return free.pop() ?? new Wait();
}
