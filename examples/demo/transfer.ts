// Many bytes from one process to the other, chunk by chunk.
import type { FileHandle } from 'node:fs/promises';
import { kChunkBytes, kSlots, type Link } from './link.js';

/** Fills a chunk before it is sent, or uses it up after it came; `position` in bytes. */
export type ChunkTask = (chunk: Uint8Array, position: number) => Promise<void>;

/** What is sent from memory to memory: long enough that starting up does not count. */
export const kMemoryBytes: number = 1 << 30;
export const kNoTask: ChunkTask = () => Promise.resolve();

/** Up to `kSlots` sends are in flight, each from its slot. */
export async function sendBytes(link: Link, total: number, fill: ChunkTask): Promise<void> {
  const sends: Promise<unknown>[] = [];
  for (let position = 0, slot = 0; position < total; position += kChunkBytes) {
    await sends[slot];
    const chunk = (link.slots[slot] as Uint8Array).subarray(0, total - position);
    await fill(chunk, position);
    const send = link.sendChunk(slot, chunk.length);
    // Awaited later; until then a failure must not count as unhandled.
    send.catch(() => {});
    sends[slot] = send;
    slot = (slot + 1) % kSlots;
  }
  await Promise.all(sends);
}

/** A receive is posted in every slot whose chunk is not being used up. */
export async function receiveBytes(link: Link, total: number, use: ChunkTask): Promise<void> {
  let asked = 0;
  const serve = async (slot: number): Promise<void> => {
    while (asked < total) {
      const position = asked;
      const byteLength = Math.min(kChunkBytes, total - position);
      asked += byteLength;
      await use(await link.receiveChunk(slot, byteLength), position);
    }
  };
  await Promise.all(link.slots.map((_, slot) => serve(slot)));
}

export function readFrom(file: FileHandle): ChunkTask {
  return async (chunk, position) => {
    for (let at = 0; at < chunk.length; ) {
      const { bytesRead } = await file.read(chunk, at, chunk.length - at, position + at);
      if (bytesRead === 0) throw new Error('The file became shorter while it was read');
      at += bytesRead;
    }
  };
}

/** One write at a time: the file's lock lets no more through, and who waits for it spins. */
export function writeTo(file: FileHandle): ChunkTask {
  let last = Promise.resolve();
  return (chunk, position) => {
    last = last.then(() => writeFully(file, chunk, position));
    return last;
  };
}

async function writeFully(file: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, at, chunk.length - at, position + at);
    at += bytesWritten;
  }
}
