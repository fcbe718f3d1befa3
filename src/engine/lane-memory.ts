// The SharedArrayBuffer of one lane, and the typed views through which this thread sees it.
import { layout } from './layout.js';

export interface LaneGeometry {
  /** Records; a power of two. */
  readonly submissionCapacity: number;
  /** Records, also the number of op slots; a power of two. */
  readonly completionCapacity: number;
}

export class LaneMemory {
  readonly geometry: LaneGeometry;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  readonly words: Int32Array<SharedArrayBuffer>;
  readonly counters: BigUint64Array<SharedArrayBuffer>;
  /** Byte offsets of the two rings. */
  readonly submissionRing: number;
  readonly completionRing: number;

  constructor(geometry: LaneGeometry) {
    this.geometry = geometry;
    this.submissionRing = layout.headerBytes;
    this.completionRing =
      this.submissionRing + geometry.submissionCapacity * layout.submissionBytes;
    const byteLength = this.completionRing + geometry.completionCapacity * layout.completionBytes;
    const buffer = new SharedArrayBuffer(byteLength);
    this.bytes = new Uint8Array(buffer);
    this.words = new Int32Array(buffer);
    this.counters = new BigUint64Array(buffer, 0, layout.headerBytes / 8);
    this.#writeHeader();
  }

  #writeHeader(): void {
    const { words, geometry } = this;
    words[layout.magicAt / 4] = layout.magic;
    words[layout.versionAt / 4] = layout.version;
    words[layout.laneIndexAt / 4] = 0;
    words[layout.submissionCapacityAt / 4] = geometry.submissionCapacity;
    words[layout.completionCapacityAt / 4] = geometry.completionCapacity;
    words[layout.submissionRingAt / 4] = this.submissionRing;
    words[layout.completionRingAt / 4] = this.completionRing;
  }

  /** A counter as a number; exact up to 2^53. */
  counter(byteOffset: number): number {
    return Number(Atomics.load(this.counters, byteOffset / 8));
  }
}
