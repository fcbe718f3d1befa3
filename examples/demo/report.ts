import Table from 'cli-table3';
import { kChunkBytes, kMessageBytes, kSlots } from './link.js';
import type { Measurement } from './measure.js';
import { kMemoryBytes } from './transfer.js';

export interface Report {
  readonly fileBytes: number;
  readonly rounds: number;
  readonly queuepair: Measurement;
  readonly net: Measurement;
}

export function printReport({ fileBytes, rounds, queuepair, net }: Report): void {
  const table = new Table({
    head: ['', 'queuepair', 'node:net', 'queuepair : net'],
    colAligns: ['left', 'right', 'right', 'right'],
    style: { head: [], border: [], compact: true },
  });
  const add = (label: string, digits: number, value: (of: Measurement) => number): void => {
    const [ours, theirs] = [value(queuepair), value(net)];
    table.push([label, ours.toFixed(digits), theirs.toFixed(digits), ratio(ours, theirs)]);
  };
  // Below one chunk it would be the time of a round trip.
  if (fileBytes >= kChunkBytes) add('file, GB/s', 2, (of) => fileBytes / of.fileSeconds / 1e9);
  add('memory to memory, GB/s', 2, (of) => kMemoryBytes / of.memorySeconds / 1e9);
  add('messages/s, one at a time', 0, ({ pingPong }) => (2 * rounds) / pingPong.seconds);
  for (const percentile of [50, 99, 99.9]) {
    add(`round trip p${percentile}, µs`, 1, ({ pingPong }) => {
      return pingPong.roundTrips.getValueAtPercentile(percentile) / 1000;
    });
  }
  console.log(table.toString());
  console.log(
    `File: ${fileBytes} bytes, read from the page cache, sent, and written to a file by the other ` +
      `process; hashing is not timed. Memory to memory: ${kMemoryBytes} bytes. Both go in chunks of ` +
      `1 MiB, up to ${kSlots} in flight. Round trips: ${rounds} of ${kMessageBytes} bytes each way.`,
  );
}

function ratio(ours: number, theirs: number): string {
  return theirs > 0 ? (ours / theirs).toFixed(2) : '–';
}
