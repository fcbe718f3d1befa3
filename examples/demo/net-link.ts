// The demo's link over node:net on the loopback interface.
import { connect, type Socket } from 'node:net';
import { ByteReader } from './byte-reader.js';
import { kChunkBytes, kMessageBytes, kSlots, type Link } from './link.js';

export class NetLink implements Link {
  readonly slots: readonly Uint8Array[];
  readonly outgoing: Uint8Array = new Uint8Array(kMessageBytes);
  readonly #incoming = new Uint8Array(kMessageBytes);
  readonly #socket: Socket;
  readonly #reader: ByteReader;

  /** The sender's end, which only receives short messages. */
  static accepted(socket: Socket): NetLink {
    const reader = new ByteReader();
    socket.on('data', (bytes: Buffer) => reader.feed(bytes));
    return new NetLink(socket, reader);
  }

  static connect(port: number): NetLink {
    const reader = new ByteReader();
    const onread = {
      buffer: () => reader.nextBuffer(),
      callback: (byteLength: number) => {
        reader.landed(byteLength);
        return !reader.isAhead; // false pauses
      },
    };
    return new NetLink(connect({ host: '127.0.0.1', port, onread }), reader);
  }

  private constructor(socket: Socket, reader: ByteReader) {
    this.#socket = socket;
    this.#reader = reader;
    this.slots = Array.from({ length: kSlots }, () => new Uint8Array(kChunkBytes));
    socket.setNoDelay(true);
    socket.on('error', (error) => reader.end(error));
    socket.on('close', () => reader.end(new Error('The peer closed the socket')));
  }

  sendChunk(slot: number, byteLength: number): Promise<unknown> {
    const bytes = this.#slot(slot).subarray(0, byteLength);
    return new Promise<void>((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
  }

  async receiveChunk(slot: number, byteLength: number): Promise<Uint8Array> {
    const bytes = this.#slot(slot).subarray(0, byteLength);
    await this.#read(bytes);
    return bytes;
  }

  sendMessage(): Promise<unknown> {
    this.#socket.write(this.outgoing);
    return Promise.resolve();
  }

  async receiveMessage(): Promise<Uint8Array> {
    await this.#read(this.#incoming);
    return this.#incoming;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.closed) return resolve();
      this.#socket.once('close', () => resolve());
      this.#socket.end();
    });
  }

  #read(target: Uint8Array): Promise<void> {
    const wasAhead = this.#reader.isAhead;
    const read = this.#reader.read(target);
    if (wasAhead && !this.#reader.isAhead) this.#socket.resume();
    return read;
  }

  #slot(slot: number): Uint8Array {
    return this.slots[slot] as Uint8Array;
  }
}
