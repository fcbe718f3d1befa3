// One end of a connection, told what to do by plain values: the same code runs in the test's process
// and in a child's.
import { createHash } from 'node:crypto';

const kGuard = 0xa5;
const kGuardBytes = 64;
/** Twice the longest message, and more than all random ones that are in flight at once. */
const kPoolBytes = 20 << 20;
const kWasmPageBytes = 1 << 16;

/** The same bytes for the same seed. */
export function fill(bytes, seed) {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  const words = new Int32Array(Math.ceil(bytes.length / 4));
  for (let at = 0; at < words.length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[at] = state;
  }
  bytes.set(new Uint8Array(words.buffer, 0, bytes.length));
  return bytes;
}

export function digestOf(parts) {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(Buffer.from(part));
  return hash.digest('hex');
}

export function expectedDigest(seed, byteLength) {
  return digestOf([fill(new Uint8Array(byteLength), seed)]);
}

/** A region used round and round; what is in flight at once is far less than the whole. */
class Memory {
  #at = 0;

  constructor(region) {
    this.region = region;
  }

  take(byteLength) {
    if (this.#at + byteLength > this.region.byteLength) this.#at = 0;
    const start = this.#at;
    this.#at += byteLength;
    return this.region.subarray(start, start + byteLength);
  }

  /** A slice with guards before and after it. */
  takeGuarded(byteLength) {
    const whole = this.take(byteLength + 2 * kGuardBytes);
    whole.bytes.fill(kGuard);
    return { whole, slice: whole.subarray(kGuardBytes, kGuardBytes + byteLength) };
  }
}

const makeRegion = {
  allocated: (engine) => engine.allocate(kPoolBytes),
  shared: (engine) => engine.register(new Uint8Array(new SharedArrayBuffer(kPoolBytes))),
  wasm: (engine) => {
    const pages = kPoolBytes / kWasmPageBytes;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    return engine.register(new Uint8Array(memory.buffer));
  },
};

function isIntact({ whole, slice }, received) {
  const all = whole.bytes;
  const start = kGuardBytes;
  const untouched = (from, to) => all.subarray(from, to).every((byte) => byte === kGuard);
  return untouched(0, start) && untouched(start + Math.min(received, slice.byteLength), all.length);
}

export class End {
  #memory = new Map();
  #lastSend = Promise.resolve();
  #lastReceive = Promise.resolve();

  constructor(engine, connection) {
    this.engine = engine;
    this.connection = connection;
  }

  async #memoryOf(kind) {
    let made = this.#memory.get(kind);
    if (made === undefined) {
      made = makeRegion[kind](this.engine).then((region) => new Memory(region));
      this.#memory.set(kind, made);
    }
    return made;
  }

  /** Operations are posted in the order of the calls, whenever their memory is there. */
  async send({ seed = 1, lengths, memory = 'allocated', immediate }) {
    const isCopy = memory === 'bytes' || memory === 'buffer';
    const before = this.#lastSend;
    const posting = (async () => {
      const pool = isCopy ? undefined : await this.#memoryOf(memory);
      await before;
      const byteLength = lengths.reduce((sum, length) => sum + length, 0);
      const bytes = fill(new Uint8Array(byteLength), seed);
      let at = 0;
      const parts = lengths.map((length) => {
        const part = bytes.subarray(at, at + length);
        at += length;
        if (isCopy) return memory === 'bytes' ? new Uint8Array(part) : Buffer.from(part);
        const slice = pool.take(length);
        slice.bytes.set(part);
        return slice;
      });
      const sent = this.connection.send(parts.length === 1 ? parts[0] : parts, { immediate });
      // Copied at the call, so this may no longer matter.
      if (isCopy) for (const part of parts) part.fill(0xee);
      return { sent };
    })();
    this.#lastSend = posting.catch(() => {});
    const { operation, status, byteLength } = await (await posting).sent;
    return { operation, status, byteLength };
  }

  async receive({ lengths, memory = 'allocated' }) {
    const before = this.#lastReceive;
    const posting = (async () => {
      const pool = await this.#memoryOf(memory);
      await before;
      const parts = lengths.map((length) => pool.takeGuarded(length));
      const slices = parts.map(({ slice }) => slice);
      return { parts, received: this.connection.receive(slices.length === 1 ? slices[0] : slices) };
    })();
    this.#lastReceive = posting.catch(() => {});
    const { parts, received: receiving } = await posting;
    const { status, byteLength, immediate } = await receiving;
    let left = byteLength;
    let intact = true;
    const received = parts.map((part) => {
      const here = Math.min(left, part.slice.byteLength);
      intact &&= isIntact(part, here);
      left -= here;
      return part.slice.bytes.subarray(0, here);
    });
    return { status, byteLength, immediate, intact, digest: digestOf(received) };
  }

  /**
   * Sends `count` numbered messages and receives as many, `depth` at a time in each direction.
   * Resolves with the numbers that did not come in their turn.
   */
  async stream({ count, depth, byteLength }) {
    const outgoing = (await this.#memoryOf('allocated')).take(depth * byteLength);
    const incoming = (await this.#memoryOf('allocated')).take(depth * byteLength);
    const slot = (slice, index) => {
      const at = (index % depth) * byteLength;
      return slice.subarray(at, at + byteLength);
    };
    const sendFrom = async (first) => {
      for (let index = first; index < count; index += depth) {
        const slice = slot(outgoing, index);
        new DataView(slice.bytes.buffer, slice.bytes.byteOffset).setUint32(0, index);
        await this.connection.send(slice);
      }
    };
    const wrong = [];
    const receiveFrom = async (first) => {
      for (let index = first; index < count; index += depth) {
        const { bytes } = await this.connection.receive(slot(incoming, index));
        const got = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
        if (got !== index || bytes.byteLength !== byteLength) wrong.push([index, got]);
      }
    };
    const lanes = Array.from({ length: depth }, (_, first) => first);
    await Promise.all([...lanes.map(receiveFrom), ...lanes.map(sendFrom)]);
    return wrong;
  }

  async close() {
    await this.connection.close();
  }
}
