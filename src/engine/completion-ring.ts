// Reads completion records. The owner is the only reader.
import type { LaneMemory } from './lane-memory.js';
import { completion, layout } from './layout.js';

const kRecordWords = layout.completionBytes / 4;
const kTail = layout.completionTailAt / 4;
const kHead = layout.completionHeadAt / 4;
const kTwo32 = 2 ** 32;

/** The fields of the record being read; one object, reused for every record. */
export class CompletionRecord {
  slot = 0;
  generation = 0;
  status = 0;
  flags = 0;
  immediate = 0;
  byteLength = 0;
  vendorError = 0;
}

export class CompletionRing {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #first: number;
  readonly #mask: number;
  readonly #record = new CompletionRecord();
  #head: number;

  constructor(memory: LaneMemory) {
    this.#words = memory.words;
    this.#first = memory.completionRing / 4;
    this.#mask = memory.geometry.completionCapacity - 1;
    this.#head = Atomics.load(this.#words, kHead);
  }

  /** Where the writer is now; a free-running index. */
  tail(): number {
    return Atomics.load(this.#words, kTail);
  }

  /** True when everything before `tail` was read. */
  reached(tail: number): boolean {
    return ((tail - this.#head) | 0) <= 0;
  }

  /** Hands at most `max` records to `sink`, then lets the writer reuse them. Returns how many. */
  drain(max: number, sink: (record: CompletionRecord) => void): number {
    const available = (this.tail() - this.#head) | 0;
    const count = Math.min(available, max);
    if (count <= 0) return 0;
    try {
      for (let index = 0; index < count; index++) {
        this.#decode();
        this.#head = (this.#head + 1) | 0;
        sink(this.#record);
      }
    } finally {
      Atomics.store(this.#words, kHead, this.#head);
    }
    return count;
  }

  #decode(): void {
    const words = this.#words;
    const record = this.#record;
    const at = this.#first + (this.#head & this.#mask) * kRecordWords;
    const packed = words[at + completion.statusAt / 4] as number;
    record.slot = words[at] as number;
    record.generation = words[at + 1] as number;
    record.status = packed & 0xff;
    record.flags = (packed >>> 8) & 0xff;
    record.immediate = (words[at + completion.immediateAt / 4] as number) >>> 0;
    record.byteLength =
      ((words[at + 4] as number) >>> 0) + ((words[at + 5] as number) >>> 0) * kTwo32;
    record.vendorError = (words[at + completion.resultAt / 4] as number) >>> 0;
  }
}
