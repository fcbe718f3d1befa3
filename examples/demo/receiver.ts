// The other process: receives the file over both transports, then answers messages.
import { rmSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openEngine } from 'queuepair';
import { hashFile } from './hash-file.js';
import type { Link } from './link.js';
import { NetLink } from './net-link.js';
import { pong } from './ping-pong.js';
import { QueuepairLink } from './queuepair-link.js';
import { kMemoryBytes, kNoTask, receiveBytes, writeTo } from './transfer.js';

/** What the first process tells this one. */
export interface Job {
  readonly queuepairPort: number;
  readonly netPort: number;
  readonly fileBytes: number;
  /** Of ping-pong. */
  readonly rounds: number;
  /** For the files received; the first process removes it. */
  readonly folder: string;
}

async function serve(name: string, link: Link, job: Job): Promise<void> {
  const path = join(job.folder, name);
  const file = await open(path, 'wx');
  await receiveBytes(link, job.fileBytes, writeTo(file));
  await link.sendMessage(); // all of it is written: the sender stops its clock
  await file.close();
  await link.receiveMessage();
  const digest = await hashFile(path);
  await rm(path);
  console.log(`receiver (process ${process.pid}), ${name}: SHA-256 ${digest.toString('hex')}`);
  link.outgoing.set(digest);
  await link.sendMessage();
  await receiveBytes(link, kMemoryBytes, kNoTask);
  await link.sendMessage();
  await pong(link, job.rounds);
  await link.close();
}

const job = JSON.parse(process.argv[2] ?? '') as Job;

// Whoever waits for this process is gone.
const orphaned = (): void => {
  rmSync(job.folder, { recursive: true, force: true });
  process.exit(1);
};
process.once('disconnect', orphaned);

const engine = await openEngine();
const connection = await engine.connect({ port: job.queuepairPort });
await serve('queuepair', await QueuepairLink.open(engine, connection), job);

await serve('net', NetLink.connect(job.netPort), job);

process.off('disconnect', orphaned);
process.disconnect();
