// What the demo does over both transports, so that both do the same.

/** 1 MiB: long enough that the cost of an operation vanishes in its copy. */
export const kChunkBytes: number = 1 << 20;
/** Chunks in flight at once, each in its own slot of memory. */
export const kSlots = 64;
export const kMessageBytes = 64;

/** One end of a connection. Chunks go one way only, in order, from the process that listens. */
export interface Link {
  /** Memory of the chunks, `kChunkBytes` each. */
  readonly slots: readonly Uint8Array[];
  /** Resolves when the slot may be used again. */
  sendChunk(slot: number, byteLength: number): Promise<unknown>;
  /** The next chunk, `byteLength` long, received into this slot. */
  receiveChunk(slot: number, byteLength: number): Promise<Uint8Array>;
  /** The message that sendMessage() sends; it may be changed once the peer has answered. */
  readonly outgoing: Uint8Array;
  sendMessage(): Promise<unknown>;
  /** The next message, valid until the call after. */
  receiveMessage(): Promise<Uint8Array>;
  close(): Promise<void>;
}
