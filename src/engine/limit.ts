// What may end a wait early: an AbortSignal, a timeout, or both.
import { followAbort, unfollowAbort } from './abort-followers.js';
import { AbortError, RdmaError } from './errors.js';
import { TimerEntry, type TimerWheel } from './timer-wheel.js';
import type { WorkCompletion } from './work-completion.js';

export interface WaitOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Makes the error; `settled` says when the memory of what was waited for is free again. */
export type MakeEndError = (settled?: Promise<WorkCompletion>) => Error;

export class Limit {
  readonly #name: string;
  readonly #timers: TimerWheel;
  readonly #timer: TimerEntry;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onEnd: (makeError: MakeEndError) => void;

  /** `onEnd` is called at most once, never from within the constructor. */
  constructor(
    name: string,
    timers: TimerWheel,
    options: WaitOptions,
    onEnd: (makeError: MakeEndError) => void,
  ) {
    this.#name = name;
    this.#timers = timers;
    this.#timeoutMs = options.timeoutMs ?? 0;
    this.#signal = options.signal;
    this.#onEnd = onEnd;
    this.#timer = new TimerEntry(this.#expire);
    if (this.#timeoutMs > 0) timers.set(this.#timer, this.#timeoutMs);
    if (this.#signal !== undefined) followAbort(this.#signal, this.#abort);
  }

  clear(): void {
    this.#timers.clear(this.#timer);
    if (this.#signal !== undefined) unfollowAbort(this.#signal, this.#abort);
  }

  readonly #abort = (): void => {
    this.clear();
    const reason: unknown = this.#signal?.reason;
    this.#onEnd((settled) => new AbortError(this.#name, reason, settled));
  };

  readonly #expire = (): void => {
    this.clear();
    this.#onEnd((settled) => timeoutError(this.#name, this.#timeoutMs, settled));
  };
}

export function timeoutError(
  operation: string,
  timeoutMs: number,
  settled?: Promise<WorkCompletion>,
): RdmaError {
  const hint =
    settled === undefined
      ? 'Check that the peer runs and answers, or allow more time with timeoutMs.'
      : 'Await error.settled before using its memory again.';
  return new RdmaError(
    'ERR_RDMA_TIMEOUT',
    `${operation} did not complete within ${timeoutMs} ms. ${hint}`,
    { operation, settled },
  );
}

/** `work`, unless the signal or the clock is first; `work` itself goes on. */
export function within<T>(
  name: string,
  timers: TimerWheel,
  options: WaitOptions,
  work: Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const limit = new Limit(name, timers, options, (makeError) => reject(makeError()));
    work.then(resolve, reject).finally(() => limit.clear());
  });
}

/** The error of a signal that was aborted before the call. */
export function throwIfAborted(operation: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError(operation, signal.reason);
}
