// Engine memory for sends of ordinary byte arrays: their bytes are copied at the call, since nothing
// can keep an ArrayBuffer's memory alive for the network. Buffers are reused by size class.
import { type MemoryRegion, MemorySlice } from './memory-region.js';

/** 256 B: below it the bookkeeping weighs more than the memory saved. */
const kSmallest = 8;
/** 1 MiB: longer copies get memory of their own, which goes back when the send ends. */
const kLargest = 20;
/** A slab holds several buffers of its class, so that few regions exist. */
const kSlabBytes = 1 << 20;

/** Makes engine memory at once, on this thread; throws when there is none. */
export type AllocateNow = (byteLength: number) => MemoryRegion;

/** A copy that one operation owns. */
export class SendCopy extends MemorySlice {
  readonly sizeClass: number;

  constructor(buffer: MemorySlice, byteLength: number, sizeClass: number) {
    super(buffer.record, buffer.region, buffer.byteOffset, byteLength);
    this.sizeClass = sizeClass;
  }
}

export class SendBuffers {
  readonly #allocate: AllocateNow;
  /** Free buffers by size class. */
  readonly #free: MemorySlice[][] = [];

  constructor(allocate: AllocateNow) {
    this.#allocate = allocate;
  }

  copy(source: Uint8Array): SendCopy {
    const { byteLength } = source;
    const sizeClass = classOf(byteLength);
    const buffer = sizeClass > kLargest ? this.#allocate(byteLength) : this.#take(sizeClass);
    const copy = new SendCopy(buffer, byteLength, sizeClass);
    copy.bytes.set(source);
    return copy;
  }

  /** No operation uses it any more. */
  release({ record, region, byteOffset, sizeClass }: SendCopy): void {
    if (sizeClass > kLargest) {
      // Nobody waits: the region is idle, and failing to close it is the engine's end anyway.
      record.host.closeRegion(record).catch(() => {});
      return;
    }
    this.#listFor(sizeClass).push(new MemorySlice(record, region, byteOffset, 2 ** sizeClass));
  }

  #take(sizeClass: number): MemorySlice {
    const list = this.#listFor(sizeClass);
    if (list.length === 0) {
      const slab = this.#allocate(kSlabBytes);
      const size = 2 ** sizeClass;
      for (let at = 0; at < kSlabBytes; at += size) list.push(slab.subarray(at, at + size));
    }
    return list.pop() as MemorySlice;
  }

  #listFor(sizeClass: number): MemorySlice[] {
    let list = this.#free[sizeClass];
    if (list === undefined) {
      list = [];
      this.#free[sizeClass] = list;
    }
    return list;
  }
}

/** The exponent of the smallest power of two that holds `byteLength`, at least kSmallest. */
function classOf(byteLength: number): number {
  if (byteLength <= 2 ** kSmallest) return kSmallest;
  return byteLength > 2 ** kLargest ? kLargest + 1 : 32 - Math.clz32(byteLength - 1);
}
