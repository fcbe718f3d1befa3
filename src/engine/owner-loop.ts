// How completions and events reach the owner's thread: woken once, it drains, then arms itself again.
//
// The owner's armed word is odd while it wants a wake. It arms by storing an odd value and then looks
// at both tails again (store, then load, both atomic): either it sees the news, or the step role sees
// that it is armed.
import type { CompletionRecord, CompletionRing } from './completion-ring.js';
import type { LaneMemory } from './lane-memory.js';
import { layout } from './layout.js';
import type { NativeEvent } from './native.js';

/** Completions handled in one turn of the loop, so that timers and sockets get theirs. */
const kMaxPerTurn = 1024;
const kArmed = layout.ownerArmedAt / 4;
const kEventsPosted = layout.eventsPostedAt / 4;

// Captured before anybody can replace it.
const schedule = setImmediate;

export interface OwnerLoopHandlers {
  onCompletion(record: CompletionRecord): void;
  /** After each turn that handled completions. */
  onDrained(): void;
  takeEvents(): NativeEvent[];
  onEvent(event: NativeEvent): void;
  /** The submission ring may have room again. */
  onSpace(): void;
  /** Whether onSpace() has something to do. */
  hasSpaceNews(): boolean;
}

export class OwnerLoop {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #completions: CompletionRing;
  readonly #handlers: OwnerLoopHandlers;
  readonly #sink: (record: CompletionRecord) => void;
  #armed = 0;
  #eventsSeen = 0;
  /** Events wait until every completion that was published before them is handled. */
  readonly #heldEvents: NativeEvent[] = [];
  #heldUntil = 0;
  #scheduled = false;
  #stopped = false;

  constructor(memory: LaneMemory, completions: CompletionRing, handlers: OwnerLoopHandlers) {
    this.#words = memory.words;
    this.#completions = completions;
    this.#handlers = handlers;
    this.#sink = (record) => handlers.onCompletion(record);
  }

  /** Before the poller starts. */
  start(): void {
    this.#arm();
  }

  /** No turn runs after this. */
  stop(): void {
    this.#stopped = true;
  }

  /** There is something to look at that no wake will come for. */
  readonly turnSoon = (): void => {
    if (!this.#stopped) this.#schedule();
  };

  /** The native wake, and every further turn. */
  readonly turn = (): void => {
    this.#scheduled = false;
    if (this.#stopped) return;
    this.#disarm();
    try {
      this.#takeEvents();
      if (this.#completions.drain(kMaxPerTurn, this.#sink) > 0) this.#handlers.onDrained();
      this.#handOverEvents();
      this.#handlers.onSpace();
    } finally {
      // Also when a handler threw: the exception is the program's, the engine goes on.
      this.#settle();
    }
  };

  #settle(): void {
    if (this.#stopped) return;
    if (this.#hasNews() || this.#arm()) this.#schedule();
  }

  #hasNews(): boolean {
    return (
      this.#heldEvents.length > 0 ||
      this.#handlers.hasSpaceNews() ||
      !this.#completions.reached(this.#completions.tail()) ||
      Atomics.load(this.#words, kEventsPosted) !== this.#eventsSeen
    );
  }

  /** True when there is news all the same. */
  #arm(): boolean {
    this.#armed = (this.#armed + 1) | 1; // even or odd, the next odd one
    Atomics.store(this.#words, kArmed, this.#armed);
    return this.#hasNews();
  }

  #disarm(): void {
    if ((this.#armed & 1) === 0) return;
    this.#armed = (this.#armed + 1) | 0;
    Atomics.store(this.#words, kArmed, this.#armed);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    schedule(this.turn);
  }

  #takeEvents(): void {
    const posted = Atomics.load(this.#words, kEventsPosted);
    if (posted === this.#eventsSeen) return;
    this.#eventsSeen = posted;
    for (const event of this.#handlers.takeEvents()) this.#heldEvents.push(event);
    this.#heldUntil = this.#completions.tail();
  }

  #handOverEvents(): void {
    if (this.#heldEvents.length === 0 || !this.#completions.reached(this.#heldUntil)) return;
    // One by one: when a handler throws, the rest are held for the next turn.
    for (let event = this.#heldEvents.shift(); event; event = this.#heldEvents.shift()) {
      this.#handlers.onEvent(event);
    }
  }
}
