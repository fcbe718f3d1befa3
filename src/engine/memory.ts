// Makes regions and takes them away.
import { kMaxLength } from 'node:buffer';
import type { MemoryOptions } from './engine-options.js';
import { errorFromFailure, invalidArgument, RdmaError } from './errors.js';
import { handleKey } from './handle-key.js';
import { AccessBit, ControlKind } from './layout.js';
import { type Access, MemoryRegion, type RegionHost, RegionRecord } from './memory-region.js';
import type {
  NativeAddon,
  NativeControl,
  NativeEvent,
  NativeFailure,
  NativeMemory,
} from './native.js';
import type { BlockingPool } from './poller-port.js';
import { integer, readOptions } from './validate.js';

/** Pages of x64, where this runs; native code maps whole pages inside the buffer. */
const kPageBytes = 4096;
/** Faulting in less takes less time than handing it to another thread. */
const kPopulateHereBytes = 256 * 1024;
/** 1 TiB: no machine has more in one piece, and every length stays exact in a double. */
const kMaxRegionBytes = 2 ** 40;

export interface MemoryHost extends RegionHost {
  readonly addon: NativeAddon;
  readonly lane: number;
  control(request: NativeControl): void;
}

export class Memory {
  readonly #host: MemoryHost;
  readonly #pool: BlockingPool;
  /** Open regions by handle; they live until closed, whoever still holds their objects. */
  readonly #regions = new Map<number, RegionRecord>();
  readonly #internal = new Set<RegionRecord>();
  readonly #released = new Map<RegionRecord, () => void>();
  readonly #closing = new Map<RegionRecord, Promise<void>>();

  constructor(host: MemoryHost, pool: BlockingPool) {
    this.#host = host;
    this.#pool = pool;
  }

  /** Those that the program made. */
  get size(): number {
    return this.#regions.size - this.#internal.size;
  }

  async allocate(byteLength: number, options: MemoryOptions | undefined): Promise<MemoryRegion> {
    integer('allocate: byteLength', byteLength, { min: 1, max: kMaxRegionBytes });
    const access = readAccess('allocate', options);
    const region = this.allocateNow(byteLength, access);
    const { slot, generation } = region.record;
    const { addon, lane } = this.#host;
    try {
      const failure =
        byteLength <= kPopulateHereBytes
          ? addon.populateMemory(lane, slot, generation)
          : await this.#pool.populate(lane, region.record);
      if (failure !== undefined) throw errorFromFailure('allocate', failure);
    } catch (error) {
      await this.close(region.record);
      throw error instanceof RdmaError ? error : noThread(error);
    }
    return region;
  }

  /** Without faulting its pages in. */
  allocateNow(byteLength: number, access: readonly Access[]): MemoryRegion {
    const pages = Math.ceil(byteLength / kPageBytes) + 1;
    let buffer: SharedArrayBuffer;
    try {
      buffer = new SharedArrayBuffer(pages * kPageBytes);
    } catch (cause) {
      throw new RdmaError(
        'ERR_RDMA_OUT_OF_RESOURCES',
        `allocate: no address space for ${byteLength} bytes. Close regions that are no longer used.`,
        { operation: 'allocate', cause },
      );
    }
    const view = new Uint8Array(buffer, 0, Math.min(buffer.byteLength, kMaxLength));
    const { addon, lane } = this.#host;
    const memory = addon.allocateMemory(lane, view, byteLength, accessBits(access));
    return this.#enter('allocate', memory, buffer, 0, byteLength, access);
  }

  /** For the engine's own use, which stats() does not count. */
  allocateInternal(byteLength: number): MemoryRegion {
    const region = this.allocateNow(byteLength, []);
    this.#internal.add(region.record);
    return region;
  }

  register(view: unknown, options: MemoryOptions | undefined): MemoryRegion {
    const access = readAccess('register', options);
    const bytes = registrableBytes(view);
    const { addon, lane } = this.#host;
    const memory = addon.registerMemory(lane, bytes, accessBits(access));
    return this.#enter(
      'register',
      memory,
      bytes.buffer,
      bytes.byteOffset,
      bytes.byteLength,
      access,
    );
  }

  close(record: RegionRecord): Promise<void> {
    let closing = this.#closing.get(record);
    if (closing === undefined) {
      if (record.state === 'closed') return Promise.resolve();
      record.state = 'closing';
      closing = this.#close(record);
      this.#closing.set(record, closing);
    }
    return closing;
  }

  onReleased(event: NativeEvent): void {
    const record = this.#regions.get(handleKey(event));
    if (record !== undefined) this.#forget(record);
  }

  /** The lane is gone, and its memory with it. */
  forgetAll(): void {
    for (const record of [...this.#regions.values()]) this.#forget(record);
  }

  async #close(record: RegionRecord): Promise<void> {
    await record.idle();
    if (!this.#regions.has(handleKey(record))) return;
    const released = new Promise<void>((resolve) => this.#released.set(record, resolve));
    const { slot, generation } = record;
    this.#host.control({ kind: ControlKind.releaseRegion, slot, generation });
    await released;
  }

  #forget(record: RegionRecord): void {
    record.state = 'closed';
    record.endWait();
    this.#regions.delete(handleKey(record));
    this.#closing.delete(record);
    this.#internal.delete(record);
    this.#released.get(record)?.();
    this.#released.delete(record);
  }

  #enter(
    operation: string,
    memory: NativeMemory | NativeFailure,
    buffer: SharedArrayBuffer,
    start: number,
    byteLength: number,
    access: readonly Access[],
  ): MemoryRegion {
    if ('fault' in memory) throw errorFromFailure(operation, memory);
    const record = new RegionRecord(
      this.#host,
      memory,
      buffer,
      start + memory.byteOffset,
      byteLength,
      access,
    );
    this.#regions.set(handleKey(record), record);
    return new MemoryRegion(record);
  }
}

function noThread(cause: unknown): RdmaError {
  return new RdmaError(
    'ERR_RDMA_OUT_OF_RESOURCES',
    'allocate: no thread could be had to fault the pages in; error.cause says why. Raise the limits of ' +
      'descriptors and threads (ulimit -n, ulimit -u).',
    { operation: 'allocate', cause },
  );
}

const accessNames = Object.keys(AccessBit) as Access[];

function readAccess(operation: string, given: MemoryOptions | undefined): readonly Access[] {
  const { access = [] } = readOptions(operation, given, ['access']);
  if (Array.isArray(access) && access.every((name) => accessNames.includes(name as Access))) {
    return [...new Set(access as readonly Access[])];
  }
  throw invalidArgument(
    `${operation}: access must be an array of ${accessNames.map((name) => `'${name}'`).join(', ')}.`,
    operation,
  );
}

function accessBits(access: readonly Access[]): number {
  return access.reduce((bits, name) => bits | AccessBit[name], 0);
}

/** The bytes of a view of a fixed-length SharedArrayBuffer; everything else is refused. */
function registrableBytes(view: unknown): Uint8Array<SharedArrayBuffer> {
  const instead = 'Use engine.allocate(byteLength), or a view of a fixed-length SharedArrayBuffer.';
  if (!ArrayBuffer.isView(view)) {
    throw invalidArgument(`register takes a view (Uint8Array, DataView …) of memory. ${instead}`);
  }
  const { buffer } = view;
  if (!(buffer instanceof SharedArrayBuffer)) {
    throw new RdmaError(
      'ERR_RDMA_INVALID_ARG',
      "register: an ArrayBuffer's memory can go away under a running operation (a transfer frees " +
        `it), and so can a Buffer's. ${instead}`,
      { operation: 'register' },
    );
  }
  if (buffer.growable) {
    throw new RdmaError(
      'ERR_RDMA_RESIZABLE_BUFFER',
      `register: a growable SharedArrayBuffer has no fixed length. ${instead}`,
      { operation: 'register' },
    );
  }
  if (view.byteLength === 0) throw invalidArgument(`register: the view is empty. ${instead}`);
  return new Uint8Array(buffer, view.byteOffset, view.byteLength);
}
