// Writes submission records. The owner is the only writer; a record becomes visible with publish().
import type { LaneMemory } from './lane-memory.js';
import { layout, submission } from './layout.js';
import type { MemorySlice } from './memory-region.js';
import type { Operation } from './operation.js';

const kRecordWords = layout.submissionBytes / 4;
const kTail = layout.submissionTailAt / 4;
const kHead = layout.submissionHeadAt / 4;
const kTwo32 = 2 ** 32;
const kSegmentWords = submission.segmentAt.map((at) => at / 4);

export class SubmissionRing {
  readonly #words: Int32Array<SharedArrayBuffer>;
  readonly #first: number;
  readonly #capacity: number;
  #tail = 0;
  #published = 0;
  /** The last head that was read: free space is looked up again only when this says "full". */
  #head = 0;

  constructor(memory: LaneMemory) {
    this.#words = memory.words;
    this.#first = memory.submissionRing / 4;
    this.#capacity = memory.geometry.submissionCapacity;
    this.#tail = Atomics.load(this.#words, kTail);
    this.#published = this.#tail;
    this.#head = Atomics.load(this.#words, kHead);
  }

  /** False when there is no room now. */
  write(operation: Operation): boolean {
    if (((this.#tail - this.#head) | 0) >= this.#capacity) {
      this.#head = Atomics.load(this.#words, kHead);
      if (((this.#tail - this.#head) | 0) >= this.#capacity) return false;
    }
    this.#encode(operation, this.#first + (this.#tail & (this.#capacity - 1)) * kRecordWords);
    this.#tail = (this.#tail + 1) | 0;
    return true;
  }

  /** Whether there is room now. */
  hasRoom(): boolean {
    this.#head = Atomics.load(this.#words, kHead);
    return ((this.#tail - this.#head) | 0) < this.#capacity;
  }

  /** Makes what was written visible. True when there was anything. */
  publish(): boolean {
    if (this.#published === this.#tail) return false;
    this.#published = this.#tail;
    Atomics.store(this.#words, kTail, this.#tail);
    return true;
  }

  #encode(operation: Operation, at: number): void {
    const words = this.#words;
    const { first, more, connection } = operation;
    const segments = first === undefined ? 0 : more === undefined ? 1 : more.length + 1;
    words[at] = operation.opcode | (operation.flags << 8) | (segments << 16);
    words[at + 1] = connection.slot;
    words[at + 2] = connection.generation;
    words[at + 3] = operation.slot;
    words[at + 4] = operation.generation;
    words[at + 5] = operation.immediate;
    if (first === undefined) return;
    this.#encodeSegment(at + 6, first);
    if (more === undefined) return;
    for (let index = 0; index < more.length; index++) {
      this.#encodeSegment(at + (kSegmentWords[index + 1] as number), more[index] as MemorySlice);
    }
  }

  #encodeSegment(at: number, slice: MemorySlice): void {
    const words = this.#words;
    words[at] = slice.record.slot;
    words[at + 1] = slice.record.generation;
    words[at + 2] = slice.byteOffset;
    words[at + 3] = slice.byteOffset / kTwo32;
    words[at + 4] = slice.byteLength;
    words[at + 5] = slice.byteLength / kTwo32;
  }
}
