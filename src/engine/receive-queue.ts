// Posted receives and those who wait for messages, matched first to first. A receive that completes
// while nobody waits is kept for the next to ask, so no message is ever lost.
import type { Wait } from './wait.js';
import type { WorkCompletion } from './work-completion.js';
import { WorkQueue } from './work-queue.js';

export class ReceiveQueue extends WorkQueue {
  #firstWait: Wait | undefined;
  #lastWait: Wait | undefined;
  readonly #unclaimed: WorkCompletion[] = [];
  waiters = 0;

  /** Received, and nobody asked for it yet. */
  get unclaimed(): number {
    return this.#unclaimed.length;
  }

  /** True when a receive() without a slice would get a message sooner or later. */
  get promisesMore(): boolean {
    return this.#unclaimed.length + this.outstanding > this.waiters;
  }

  /** Settles at once with the oldest unclaimed message, or joins those who wait. */
  wait(wait: Wait): void {
    const completion = this.#unclaimed.shift();
    if (completion !== undefined) {
      wait.settle(completion);
      return;
    }
    wait.previous = this.#lastWait;
    wait.next = undefined;
    if (this.#lastWait === undefined) this.#firstWait = wait;
    else this.#lastWait.next = wait;
    this.#lastWait = wait;
    this.waiters++;
  }

  /** A message arrived: the oldest waiter gets it. */
  deliver(completion: WorkCompletion): void {
    const wait = this.#firstWait;
    if (wait === undefined) {
      this.#unclaimed.push(completion);
      return;
    }
    this.leave(wait);
    wait.settle(completion);
  }

  /** The oldest waiter, if any, is told that its message never comes. */
  refuse(error: Error): void {
    const wait = this.#firstWait;
    if (wait === undefined) return;
    this.leave(wait);
    wait.fail(error, true);
  }

  refuseAll(error: Error): void {
    while (this.#firstWait !== undefined) this.refuse(error);
  }

  /** Takes a wait out of the line. */
  leave(wait: Wait): void {
    const { next, previous } = wait;
    if (previous === undefined) this.#firstWait = next;
    else previous.next = next;
    if (next === undefined) this.#lastWait = previous;
    else next.previous = previous;
    wait.next = undefined;
    wait.previous = undefined;
    this.waiters--;
  }
}
