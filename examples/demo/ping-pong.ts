// One message there, its answer back, one at a time.
import { build, type Histogram } from 'hdr-histogram-js';
import type { Link } from './link.js';

/** Not counted: compilers and caches warm up. */
const kWarmUpRounds = 2_000;

export interface PingPong {
  readonly seconds: number;
  /** Round trips, nanoseconds. */
  readonly roundTrips: Histogram;
}

export async function ping(link: Link, rounds: number): Promise<PingPong> {
  await exchange(link, kWarmUpRounds, new Float64Array(kWarmUpRounds));
  // The histogram is made afterwards, so that it costs nothing here.
  const milliseconds = new Float64Array(rounds);
  const start = performance.now();
  await exchange(link, rounds, milliseconds);
  const seconds = (performance.now() - start) / 1000;
  const roundTrips = build({ lowestDiscernibleValue: 1, highestTrackableValue: 60e9 });
  for (const time of milliseconds) roundTrips.recordValue(Math.round(time * 1e6));
  return { seconds, roundTrips };
}

/** The other side: sends each message back. */
export async function pong(link: Link, rounds: number): Promise<void> {
  for (let round = 0; round < kWarmUpRounds + rounds; round++) {
    link.outgoing.set(await link.receiveMessage());
    await link.sendMessage();
  }
}

async function exchange(link: Link, rounds: number, milliseconds: Float64Array): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    link.outgoing[0] = round;
    const start = performance.now();
    const answer = link.receiveMessage();
    await link.sendMessage();
    const bytes = await answer;
    milliseconds[round] = performance.now() - start;
    if (bytes[0] !== (round & 0xff)) throw new Error(`Round ${round} got another round's answer`);
  }
}
