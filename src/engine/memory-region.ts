// Regions and slices as programs hold them, and the record behind a region that the engine keeps.
import { kMaxLength } from 'node:buffer';
import { invalidArgument, RdmaError } from './errors.js';
import { show } from './validate.js';

export type Access = 'remote-read' | 'remote-write' | 'remote-atomic';

/** What the engine does for regions. */
export interface RegionHost {
  /** Waits for the operations on it, then takes it away; resolves when its memory is gone. */
  closeRegion(record: RegionRecord): Promise<void>;
}

/** The engine's side of a region. It outlives the object that the program holds. */
export class RegionRecord {
  readonly host: RegionHost;
  readonly slot: number;
  readonly generation: number;
  readonly buffer: SharedArrayBuffer;
  /** Where the region begins in `buffer`, bytes. */
  readonly byteOffset: number;
  readonly byteLength: number;
  readonly access: readonly Access[];
  state: 'open' | 'closing' | 'closed' = 'open';
  #outstanding = 0;
  #onIdle: (() => void) | undefined;

  constructor(
    host: RegionHost,
    name: { readonly slot: number; readonly generation: number },
    buffer: SharedArrayBuffer,
    byteOffset: number,
    byteLength: number,
    access: readonly Access[],
  ) {
    this.host = host;
    this.slot = name.slot;
    this.generation = name.generation;
    this.buffer = buffer;
    this.byteOffset = byteOffset;
    this.byteLength = byteLength;
    this.access = access;
  }

  /** Operations that name this region, posted or waiting. */
  get outstanding(): number {
    return this.#outstanding;
  }

  retain(): void {
    this.#outstanding++;
  }

  release(): void {
    this.#outstanding--;
    if (this.#outstanding === 0) this.#onIdle?.();
  }

  /** The region is gone, whatever still names it. */
  endWait(): void {
    this.#onIdle?.();
  }

  /** Resolves when no operation names the region. */
  idle(): Promise<void> {
    if (this.#outstanding === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

function checkOffset(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalidArgument(`${name} must be an integer from 0 to 2^53 - 1, not ${show(value)}.`);
  }
}

/**
 * A part of a region, the unit that operations take. It aliases the region, costs nothing, and may be
 * kept and used again.
 */
export class MemorySlice {
  /** @internal */
  readonly record: RegionRecord;
  /** Holds the program's region object, so that a region in use is never seen as dropped. */
  readonly #region: MemorySlice | undefined;
  readonly #byteOffset: number;
  readonly #byteLength: number;

  /** @internal */
  constructor(
    record: RegionRecord,
    region: MemorySlice | undefined,
    byteOffset: number,
    byteLength: number,
  ) {
    this.record = record;
    this.#region = region;
    this.#byteOffset = byteOffset;
    this.#byteLength = byteLength;
  }

  /** Whether this is a slice that was made here, and not only looks like one. @internal */
  static isSlice(value: unknown): value is MemorySlice {
    return typeof value === 'object' && value !== null && #byteLength in value;
  }

  /** From the region's start, bytes. */
  get byteOffset(): number {
    return this.#byteOffset;
  }

  get byteLength(): number {
    return this.#byteLength;
  }

  /** The region that this is a part of. */
  get region(): MemorySlice {
    return this.#region ?? this;
  }

  /**
   * The bytes themselves; writes are seen by peers and by every thread that has the buffer. Once the
   * region is closed, allocated memory reads as zeros.
   *
   * @throws ERR_RDMA_TOO_LARGE_FOR_VIEW above what a Uint8Array of this Node version holds
   *   (`buffer.constants.MAX_LENGTH`); `subarray().bytes` of a part works.
   */
  get bytes(): Uint8Array<SharedArrayBuffer> {
    if (this.byteLength > kMaxLength) {
      throw new RdmaError(
        'ERR_RDMA_TOO_LARGE_FOR_VIEW',
        `${this.byteLength} bytes are more than one Uint8Array holds (${kMaxLength}). ` +
          'Use subarray(start, end).bytes of a part.',
      );
    }
    const { record } = this;
    return new Uint8Array(record.buffer, record.byteOffset + this.byteOffset, this.byteLength);
  }

  /**
   * A part of this slice, from `start` to before `end`, bytes; both count from this slice's start and
   * are not negative.
   *
   * @throws ERR_RDMA_OUT_OF_BOUNDS when the part does not lie inside.
   */
  subarray(start = 0, end: number = this.byteLength): MemorySlice {
    checkOffset('start', start);
    checkOffset('end', end);
    if (start > end || end > this.byteLength) {
      throw new RdmaError(
        'ERR_RDMA_OUT_OF_BOUNDS',
        `subarray(${start}, ${end}) does not lie inside 0 to ${this.byteLength}. ` +
          'Choose start <= end <= byteLength.',
      );
    }
    return new MemorySlice(this.record, this.region, this.byteOffset + start, end - start);
  }
}

/** Memory that operations may name. It lives until it is closed. */
export class MemoryRegion extends MemorySlice {
  /** @internal */
  constructor(record: RegionRecord) {
    super(record, undefined, 0, record.byteLength);
  }

  /** What peers may do with it; empty for local use only. */
  get access(): readonly Access[] {
    return this.record.access;
  }

  get closed(): boolean {
    return this.record.state !== 'open';
  }

  /**
   * Refuses new operations, waits for those on it, then gives the memory back. Idempotent. Views of
   * allocated memory stay valid and read zeros.
   */
  close(): Promise<void> {
    return this.record.host.closeRegion(this.record);
  }

  /** The same as close(). */
  deregister(): Promise<void> {
    return this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
