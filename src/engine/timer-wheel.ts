// Many timeouts on one Node timer: setting and clearing one is a few stores, and the timer sleeps
// until the next slot that has anything. It never keeps the event loop alive; what waits does.

/** 4 ms: finer than anybody's timeout, coarse enough that a burst of them shares a slot. */
const kTickMs = 4;
const kSlots = 512;

/** Something that can be in the wheel, once at a time. */
export class TimerEntry {
  readonly onExpired: () => void;
  deadline = 0;
  scheduled = false;
  next: TimerEntry | undefined = undefined;
  previous: TimerEntry | undefined = undefined;

  constructor(onExpired: () => void) {
    this.onExpired = onExpired;
  }
}

export class TimerWheel {
  readonly #slots: (TimerEntry | undefined)[] = new Array<TimerEntry | undefined>(kSlots);
  readonly #now: () => number;
  #count = 0;
  #timer: NodeJS.Timeout | undefined = undefined;
  #armedFor = Number.POSITIVE_INFINITY;
  /** The last tick that was looked at. */
  #tick: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#tick = Math.floor(now() / kTickMs);
  }

  /** `entry` expires not before `timeoutMs` from now, at most some ticks later. */
  set(entry: TimerEntry, timeoutMs: number): void {
    this.clear(entry);
    const now = this.#now();
    if (this.#count === 0) this.#tick = Math.floor(now / kTickMs);
    entry.deadline = Math.ceil((now + timeoutMs) / kTickMs);
    entry.scheduled = true;
    const slot = entry.deadline % kSlots;
    const head = this.#slots[slot];
    entry.next = head;
    if (head !== undefined) head.previous = entry;
    this.#slots[slot] = entry;
    this.#count++;
    if (entry.deadline < this.#armedFor) this.#arm(entry.deadline, now);
  }

  clear(entry: TimerEntry): void {
    if (!entry.scheduled) return;
    const { next, previous } = entry;
    if (previous === undefined) this.#slots[entry.deadline % kSlots] = next;
    else previous.next = next;
    if (next !== undefined) next.previous = previous;
    entry.next = undefined;
    entry.previous = undefined;
    entry.scheduled = false;
    this.#count--;
    if (this.#count === 0) this.#disarm();
  }

  #arm(tick: number, now: number): void {
    this.#disarm();
    this.#armedFor = tick;
    this.#timer = setTimeout(this.#expire, Math.max(1, Math.ceil(tick * kTickMs - now)));
    this.#timer.unref();
  }

  #disarm(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#armedFor = Number.POSITIVE_INFINITY;
  }

  readonly #expire = (): void => {
    this.#disarm();
    const now = Math.floor(this.#now() / kTickMs);
    // After a long sleep each slot is still looked at only once.
    const last = Math.min(now, this.#tick + kSlots - 1);
    const due: TimerEntry[] = [];
    for (let tick = this.#tick; tick <= last; tick++) this.#collect(tick % kSlots, now, due);
    this.#tick = now;
    try {
      for (const entry of due) {
        // One that expired may have cleared, or set anew, another that was due as well.
        if (!entry.scheduled || entry.deadline > now) continue;
        this.clear(entry);
        entry.onExpired();
      }
    } finally {
      this.#armNext();
    }
  };

  #collect(slot: number, now: number, due: TimerEntry[]): void {
    for (let entry = this.#slots[slot]; entry !== undefined; entry = entry.next) {
      if (entry.deadline <= now) due.push(entry);
    }
  }

  /** Sleeps until the first slot with an entry, which may turn out to be due a round later. */
  #armNext(): void {
    if (this.#count === 0) return;
    for (let ahead = 1; ahead <= kSlots; ahead++) {
      if (this.#slots[(this.#tick + ahead) % kSlots] === undefined) continue;
      // One that expired may have armed it already, for later.
      if (this.#tick + ahead < this.#armedFor) this.#arm(this.#tick + ahead, this.#now());
      return;
    }
  }
}
