// Tells native code of new submissions, and learns when the ring has room again.
import type { LaneMemory } from './lane-memory.js';
import { layout } from './layout.js';
import type { SubmissionRing } from './submission-ring.js';
import type { WorkQueue } from './work-queue.js';

const kParked = layout.pollerParkedAt / 4;
const kWantsSpace = layout.ownerWantsSpaceAt / 4;

export class SubmissionDoorbell {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #submissions: SubmissionRing;
  readonly #ring: () => void;
  readonly #lookAgain: () => void;
  /** The parking that was last rung for: once is enough. */
  #rungFor = 0;
  /** Odd while the owner wants to hear of room. */
  #wantsSpace = 0;
  #starved = new Set<WorkQueue>();

  /** `ring` rings the poller; `lookAgain` has onSpace() called in a turn of the event loop. */
  constructor(
    memory: LaneMemory,
    submissions: SubmissionRing,
    actions: { readonly ring: () => void; readonly lookAgain: () => void },
  ) {
    this.#words = memory.words;
    this.#submissions = submissions;
    this.#ring = actions.ring;
    this.#lookAgain = actions.lookAgain;
  }

  /** Somebody waits for room, and there is some: no wake will come for it. */
  get hasNews(): boolean {
    return this.#starved.size > 0 && this.#submissions.hasRoom();
  }

  /** Store the tail, then look whether the poller is parked: it does the same the other way round. */
  publish(): void {
    if (!this.#submissions.publish()) return;
    const parked = Atomics.load(this.#words, kParked);
    if ((parked & 1) === 0 || parked === this.#rungFor) return;
    this.#rungFor = parked;
    this.#ring();
  }

  /** `queue.pump()` is called once the ring has room. */
  waitForSpace(queue: WorkQueue): void {
    this.#starved.add(queue);
    if ((this.#wantsSpace & 1) === 0) this.#flip();
    // The ring may have been drained before the word was there to be seen.
    if (this.#submissions.hasRoom()) this.#lookAgain();
  }

  /** There may be room now. */
  onSpace(): void {
    if (this.#starved.size === 0) return;
    if ((this.#wantsSpace & 1) === 1) this.#flip();
    const queues = this.#starved;
    this.#starved = new Set();
    for (const queue of queues) queue.pump();
    this.publish();
  }

  #flip(): void {
    this.#wantsSpace = (this.#wantsSpace + 1) | 0;
    Atomics.store(this.#words, kWantsSpace, this.#wantsSpace);
  }
}
