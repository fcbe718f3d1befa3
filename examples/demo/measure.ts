// The sender's side of one transport: the file and its hash, memory to memory, ping-pong.
import { open } from 'node:fs/promises';
import type { Link } from './link.js';
import { type PingPong, ping } from './ping-pong.js';
import { type ChunkTask, kMemoryBytes, kNoTask, readFrom, sendBytes } from './transfer.js';

export interface Measurement {
  /** From the first read of the file until the receiver had written the last byte. */
  readonly fileSeconds: number;
  /** The same for `kMemoryBytes` that are neither read nor written. */
  readonly memorySeconds: number;
  readonly pingPong: PingPong;
}

export interface Source {
  readonly path: string;
  readonly byteLength: number;
  readonly sha256: Buffer;
}

export async function measure(link: Link, source: Source, rounds: number): Promise<Measurement> {
  const file = await open(source.path);
  const fileSeconds = await timed(link, source.byteLength, readFrom(file));
  await file.close();
  link.outgoing.set(source.sha256);
  await link.sendMessage();
  const received = Buffer.from(await link.receiveMessage()).subarray(0, source.sha256.length);
  if (!received.equals(source.sha256)) throw new Error('The file that arrived is another one');
  const memorySeconds = await timed(link, kMemoryBytes, kNoTask);
  const pingPong = await ping(link, rounds);
  await link.close();
  return { fileSeconds, memorySeconds, pingPong };
}

/** The receiver's message stops the clock: it has all. */
async function timed(link: Link, total: number, fill: ChunkTask): Promise<number> {
  const start = performance.now();
  await sendBytes(link, total, fill);
  await link.receiveMessage();
  return (performance.now() - start) / 1000;
}
