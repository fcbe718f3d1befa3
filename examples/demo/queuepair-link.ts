// The demo's link over queuepair: chunks and messages lie in registered memory, nothing is copied in
// JavaScript.
import type { Connection, Engine, MemorySlice } from 'queuepair';
import { kChunkBytes, kMessageBytes, kSlots, type Link } from './link.js';

/** Nobody waits for the end of a message's send: the answer proves it. */
const kUnsignaled = { signaled: false } as const;

export class QueuepairLink implements Link {
  readonly slots: readonly Uint8Array[];
  readonly outgoing: Uint8Array;
  readonly #engine: Engine;
  readonly #connection: Connection;
  readonly #slices: readonly MemorySlice[];
  readonly #outgoing: MemorySlice;
  readonly #incoming: MemorySlice;

  static async open(engine: Engine, connection: Connection): Promise<QueuepairLink> {
    const chunks = await engine.allocate(kSlots * kChunkBytes);
    const messages = await engine.allocate(2 * kMessageBytes);
    return new QueuepairLink(engine, connection, chunks, messages);
  }

  private constructor(
    engine: Engine,
    connection: Connection,
    chunks: MemorySlice,
    messages: MemorySlice,
  ) {
    this.#engine = engine;
    this.#connection = connection;
    this.#slices = Array.from({ length: kSlots }, (_, slot) =>
      chunks.subarray(slot * kChunkBytes, (slot + 1) * kChunkBytes),
    );
    this.slots = this.#slices.map((slice) => slice.bytes);
    this.#outgoing = messages.subarray(0, kMessageBytes);
    this.outgoing = this.#outgoing.bytes;
    this.#incoming = messages.subarray(kMessageBytes);
  }

  sendChunk(slot: number, byteLength: number): Promise<unknown> {
    return this.#connection.send(this.#slice(slot).subarray(0, byteLength));
  }

  async receiveChunk(slot: number): Promise<Uint8Array> {
    return (await this.#connection.receive(this.#slice(slot))).bytes;
  }

  sendMessage(): Promise<unknown> {
    return this.#connection.send(this.#outgoing, kUnsignaled);
  }

  async receiveMessage(): Promise<Uint8Array> {
    return (await this.#connection.receive(this.#incoming)).bytes;
  }

  /** The engine closes its connection and its memory. */
  close(): Promise<void> {
    return this.#engine.close();
  }

  #slice(slot: number): MemorySlice {
    return this.#slices[slot] as MemorySlice;
  }
}
