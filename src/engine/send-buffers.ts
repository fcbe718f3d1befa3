// Engine memory for sends of ordinary byte arrays: their bytes are copied at the call, since nothing
// can keep an ArrayBuffer's memory alive for the network. Buffers come from slabs, one size each.
import { invalidArgument } from './errors.js';
import { type MemoryRegion, MemorySlice } from './memory-region.js';

/** 256 B: below it the bookkeeping weighs more than the memory saved. */
const kSmallest = 8;
/** 1 MiB: longer copies get memory of their own, which goes back when the send ends. */
const kLargest = 20;
/** A slab holds several buffers of its size, so that few regions exist. */
const kSlabBytes = 1 << 20;
/** Slabs kept though nothing in them is used: one for each of the usual sizes, 8 MiB in all. */
const kSpareSlabs = 8;

/** Makes engine memory at once, on this thread; throws when there is none. */
export type AllocateNow = (byteLength: number) => MemoryRegion;

interface Slab {
  readonly region: MemoryRegion;
  readonly sizeClass: number;
  readonly free: MemorySlice[];
  /** Buffers in it. */
  readonly count: number;
}

/** A copy that one operation owns. */
export class SendCopy extends MemorySlice {
  /** Where its buffer goes back to; without one, the region is its own. */
  readonly slab: Slab | undefined;

  constructor(buffer: MemorySlice, byteLength: number, slab: Slab | undefined) {
    super(buffer.record, buffer.region, buffer.byteOffset, byteLength);
    this.slab = slab;
  }
}

export class SendBuffers {
  readonly #allocate: AllocateNow;
  /** Slabs with free buffers, by size class. */
  readonly #slabs: Slab[][] = Array.from({ length: kLargest + 1 }, () => []);
  #spareSlabs = 0;

  constructor(allocate: AllocateNow) {
    this.#allocate = allocate;
  }

  /** Throws when the array was detached, or its memory resized, under the call. */
  copy(source: Uint8Array): SendCopy {
    const copy = this.#take(byteLengthOf(source));
    try {
      copy.bytes.set(source);
    } catch {
      this.release(copy);
      throw invalidArgument(
        'send: the array was detached or resized. Send one that stays as it is.',
      );
    }
    return copy;
  }

  /** No operation uses it any more. */
  release({ record, region, byteOffset, slab }: SendCopy): void {
    if (slab === undefined) {
      closeUnawaited(record);
      return;
    }
    if (slab.free.length === 0) this.#slabsOf(slab.sizeClass).push(slab);
    slab.free.push(new MemorySlice(record, region, byteOffset, 2 ** slab.sizeClass));
    if (slab.free.length === slab.count) this.#becameSpare(slab);
  }

  #take(byteLength: number): SendCopy {
    const sizeClass = classOf(byteLength);
    if (sizeClass > kLargest) {
      return new SendCopy(this.#allocate(byteLength), byteLength, undefined);
    }
    const slabs = this.#slabsOf(sizeClass);
    const slab = slabs.at(-1) ?? this.#addSlab(sizeClass);
    if (slab.free.length === slab.count) this.#spareSlabs--;
    const buffer = slab.free.pop() as MemorySlice;
    if (slab.free.length === 0) slabs.pop();
    return new SendCopy(buffer, byteLength, slab);
  }

  #addSlab(sizeClass: number): Slab {
    const region = this.#allocate(kSlabBytes);
    const size = 2 ** sizeClass;
    const free: MemorySlice[] = [];
    for (let at = 0; at < kSlabBytes; at += size) free.push(region.subarray(at, at + size));
    const slab = { region, sizeClass, free, count: free.length };
    this.#slabsOf(sizeClass).push(slab);
    this.#spareSlabs++;
    return slab;
  }

  #becameSpare(slab: Slab): void {
    if (this.#spareSlabs < kSpareSlabs) {
      this.#spareSlabs++;
      return;
    }
    const slabs = this.#slabsOf(slab.sizeClass);
    slabs.splice(slabs.indexOf(slab), 1);
    closeUnawaited(slab.region.record);
  }

  #slabsOf(sizeClass: number): Slab[] {
    return this.#slabs[sizeClass] as Slab[];
  }
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const realByteLength = Object.getOwnPropertyDescriptor(typedArray, 'byteLength')?.get;

/** What the array has, whatever a subclass says. */
function byteLengthOf(array: Uint8Array): number {
  return realByteLength?.call(array) as number;
}

/** Nobody waits: the region is idle, and failing to close it is the engine's end anyway. */
function closeUnawaited(record: MemorySlice['record']): void {
  record.host.closeRegion(record).catch(() => {});
}

/** The exponent of the smallest power of two that holds `byteLength`, at least kSmallest. */
function classOf(byteLength: number): number {
  if (byteLength <= 2 ** kSmallest) return kSmallest;
  return byteLength > 2 ** kLargest ? kLargest + 1 : 32 - Math.clz32(byteLength - 1);
}
