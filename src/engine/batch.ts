// One promise for several operations, settled when the last of them is.
import { Limit, type MakeEndError, type WaitOptions } from './limit.js';
import type { TimerWheel } from './timer-wheel.js';
import { markHandled, type Wait } from './wait.js';
import type { WorkCompletion } from './work-completion.js';

export class Batch {
  /** In the order of the operations. Rejects with the first failure, after all have ended. */
  readonly promise: Promise<WorkCompletion[]>;
  readonly #completions: (WorkCompletion | undefined)[];
  readonly #waits: (Wait | undefined)[];
  #remaining: number;
  #failure: Error | undefined;
  #handled = false;
  #limit: Limit | undefined;
  #resolve!: (completions: WorkCompletion[]) => void;
  #reject!: (error: Error) => void;

  constructor(length: number) {
    this.#completions = new Array<WorkCompletion | undefined>(length);
    this.#waits = new Array<Wait | undefined>(length);
    this.#remaining = length;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  join(index: number, wait: Wait): void {
    this.#waits[index] = wait;
  }

  /** After every wait joined. */
  limit(timers: TimerWheel, options: WaitOptions): void {
    if (this.#remaining === 0) return;
    this.#limit = new Limit('post', timers, options, (makeError) => this.#endEarly(makeError));
  }

  settle(index: number, completion: WorkCompletion): void {
    this.#completions[index] = completion;
    this.#ended(index);
  }

  fail(index: number, error: Error, handled: boolean): void {
    this.#failure ??= error;
    this.#handled ||= handled;
    this.#ended(index);
  }

  #ended(index: number): void {
    this.#waits[index] = undefined;
    if (--this.#remaining > 0) return;
    this.#limit?.clear();
    if (this.#failure === undefined) {
      this.#resolve(this.#completions as WorkCompletion[]);
      return;
    }
    if (this.#handled) markHandled(this.promise);
    this.#reject(this.#failure);
  }

  #endEarly(makeError: MakeEndError): void {
    const open = this.#waits.filter((wait) => wait !== undefined);
    const settled = Promise.all(open.map((wait) => wait.abandon()));
    // The last of them: when it is over, so are the others.
    this.#reject(makeError(settled.then((completions) => completions.at(-1) as WorkCompletion)));
  }
}
