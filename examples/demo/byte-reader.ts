// Cuts a byte stream into pieces of known length. With nextBuffer() and landed() the socket reads
// straight into the pieces, which is the fastest that node:net can do.
import { kChunkBytes } from './link.js';

interface Wanted {
  readonly target: Uint8Array;
  filled: number;
  readonly done: () => void;
  readonly fail: (error: Error) => void;
}

export class ByteReader {
  readonly #wanted: Wanted[] = [];
  readonly #spare = new Uint8Array(kChunkBytes);
  /** The socket reads into the first wanted piece, not into the spare buffer. */
  #direct = false;
  #early: Uint8Array[] = [];
  #end: Error | undefined;

  /** True when bytes arrived that nobody asked for yet. */
  get isAhead(): boolean {
    return this.#early.length > 0;
  }

  /** Resolves when `target` is full. Calls are served in order. */
  read(target: Uint8Array): Promise<void> {
    return new Promise((done, fail) => {
      if (this.#end !== undefined) return fail(this.#end);
      this.#wanted.push({ target, filled: 0, done, fail });
      const early = this.#early;
      this.#early = [];
      for (const bytes of early) this.feed(bytes);
    });
  }

  /** Where the next bytes are to go. */
  nextBuffer(): Uint8Array {
    const wanted = this.#wanted[0];
    this.#direct = wanted !== undefined;
    return wanted === undefined ? this.#spare : wanted.target.subarray(wanted.filled);
  }

  /** So many bytes are in the buffer that nextBuffer() gave. */
  landed(byteLength: number): void {
    if (this.#direct) this.#advance(this.#wanted[0] as Wanted, byteLength);
    else this.feed(this.#spare.slice(0, byteLength));
  }

  feed(bytes: Uint8Array): void {
    let rest = bytes;
    for (let wanted = this.#wanted[0]; wanted && rest.length > 0; wanted = this.#wanted[0]) {
      const part = rest.subarray(0, wanted.target.length - wanted.filled);
      wanted.target.set(part, wanted.filled);
      this.#advance(wanted, part.length);
      rest = rest.subarray(part.length);
    }
    if (rest.length > 0) this.#early.push(rest);
  }

  end(error: Error): void {
    this.#end ??= error;
    for (const { fail } of this.#wanted.splice(0)) fail(this.#end);
  }

  #advance(wanted: Wanted, byteLength: number): void {
    wanted.filled += byteLength;
    if (wanted.filled < wanted.target.length) return;
    this.#wanted.shift();
    wanted.done();
  }
}
