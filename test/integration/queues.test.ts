// Posting: depth, order, what waits and what is refused, batches, unsignalled sends, receives that
// were posted in advance.
import type { Connection, MemoryRegion } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectEngines, connectedPair, expectWorks, testEngine } from '../helpers/pair.js';

expectNothingLeft();

const kDepth = 64;
const kMaxQueued = 4096;

/** Receives `count` messages of one number each, which the sender wrote with numbered(). */
async function receiveNumbers(connection: Connection, region: MemoryRegion, count: number) {
  const received = await Promise.all(
    Array.from({ length: count }, () => connection.receive(region.subarray(0, 0))),
  );
  return received.map(({ immediate }) => immediate);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('a queue', () => {
  it('takes 64 posted and 4096 waiting sends, refuses the next, and ready() says when to go on', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const none = new Uint8Array(0);
    const sends = upTo(kDepth + kMaxQueued).map((immediate) => a.send(none, { immediate }));
    await rejection(a.send(none), 'ERR_RDMA_QUEUE_FULL');
    await rejection(a.post([{ operation: 'send', source: none }]), 'ERR_RDMA_QUEUE_FULL');
    let isReady = false;
    const ready = a.ready().then(() => {
      isReady = true;
    });
    // One place is not yet room: half of the queue is.
    const first = await b.receive(region);
    expect(first.immediate).toBe(0);
    await sends[0];
    expect(isReady).toBe(false);
    const rest = await receiveNumbers(b, region, kMaxQueued);
    await ready;
    expect(rest).toEqual(upTo(kMaxQueued).map((number) => number + 1));
    const last = a.send(none, { immediate: 7 });
    await receiveNumbers(b, region, kDepth - 1);
    expect(await receiveNumbers(b, region, 1)).toEqual([7]);
    await Promise.all([...sends, last]);
    expect(await codesOf(sends)).toEqual(sends.map(() => undefined));
  });

  it('takes as many receives, in the same way', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const receives = upTo(kDepth + kMaxQueued).map(() => b.receive(region));
    await rejection(b.receive(region), 'ERR_RDMA_QUEUE_FULL');
    const ready = b.ready();
    for (const number of upTo(kMaxQueued)) {
      await a.send(new Uint8Array(0), { immediate: number, signaled: false });
    }
    await ready;
    const first = await Promise.all(receives.slice(0, kMaxQueued));
    expect(first.map(({ immediate }) => immediate)).toEqual(upTo(kMaxQueued));
    const rest = codesOf(receives.slice(kMaxQueued));
    await b.close();
    expect(await rest).toEqual(Array(kDepth).fill('ERR_RDMA_CLOSED'));
  });

  it('of depth 1 without room to wait takes one operation at a time', async () => {
    const { a, b, passive } = await connectedPair({
      connect: { sendDepth: 1, receiveDepth: 1, maxQueued: 0 },
    });
    const region = await passive.allocate(64);
    for (const value of [1, 2, 3]) {
      const sent = a.send(Uint8Array.of(value));
      await rejection(a.send(Uint8Array.of(value)), 'ERR_RDMA_QUEUE_FULL');
      const { bytes } = await b.receive(region);
      expect([...bytes]).toEqual([value]);
      await sent;
      await a.ready();
    }
  });

  it.each([2, 3, 1000, 16_384])('of depth %i keeps the order of what is posted', async (depth) => {
    const depths = { sendDepth: depth, receiveDepth: depth };
    const { a, b, passive } = await connectedPair({ connect: depths, accept: depths });
    const region = await passive.allocate(64);
    const received = receiveNumbers(b, region, 3000);
    const sends = upTo(3000).map((immediate) => a.send(new Uint8Array(0), { immediate }));
    await Promise.all(sends);
    expect(await received).toEqual(upTo(3000));
  });
});

describe('post()', () => {
  it('posts sends and receives together and resolves with their completions in order', async () => {
    const { a, b, active, passive } = await connectedPair();
    const here = await active.allocate(64);
    const there = await passive.allocate(64);
    const [[sent1, received, sent2], [got1, got2, answered]] = (await Promise.all([
      a.post([
        { operation: 'send', source: Uint8Array.of(1, 2), immediate: 11 },
        { operation: 'receive', target: here },
        { operation: 'send', source: [Uint8Array.of(3), Uint8Array.of(4, 5)] },
      ]),
      b.post([
        { operation: 'receive', target: there.subarray(0, 8) },
        { operation: 'receive', target: [there.subarray(8, 9), there.subarray(16, 24)] },
        { operation: 'send', source: Uint8Array.of(9) },
      ]),
    ])) as [Completions, Completions];
    expect(sent1).toMatchObject({ operation: 'send', status: 'success', byteLength: 2 });
    expect(sent2).toMatchObject({ operation: 'send', status: 'success', byteLength: 3 });
    expect(answered).toMatchObject({ operation: 'send', status: 'success', byteLength: 1 });
    expect([received.byteLength, here.bytes[0]]).toEqual([1, 9]);
    expect([got1.byteLength, got1.immediate, ...got1.bytes]).toEqual([2, 11, 1, 2]);
    expect([got2.byteLength, got2.immediate]).toEqual([3, undefined]);
    expect([there.bytes[8], there.bytes[16], there.bytes[17]]).toEqual([3, 4, 5]);
  });

  it('posts nothing when one operation is refused', async () => {
    const { a, b, active, passive } = await connectedPair();
    const closed = await active.allocate(64);
    await closed.close();
    const good = { operation: 'send', source: Uint8Array.of(1) } as const;
    const wrong = [
      [{ operation: 'send', source: closed }, 'ERR_RDMA_NOT_REGISTERED'],
      [{ operation: 'send', source: good.source, immediate: -1 }, 'ERR_RDMA_INVALID_ARG'],
      [{ operation: 'receive', target: closed }, 'ERR_RDMA_NOT_REGISTERED'],
    ] as const;
    for (const [bad, code] of wrong) await rejection(a.post([good, bad, good]), code);
    expect(active.stats().posts.send).toBe(0);
    const region = await passive.allocate(64);
    const [{ bytes }] = await Promise.all([b.receive(region), a.send(Uint8Array.of(2))]);
    expect([...bytes]).toEqual([2]);
  });

  it('posts nothing when there is not room for all', async () => {
    const { a, b, passive } = await connectedPair({ connect: { sendDepth: 2, maxQueued: 1 } });
    const send = { operation: 'send', source: Uint8Array.of(1) } as const;
    await rejection(a.post([send, send, send, send]), 'ERR_RDMA_QUEUE_FULL');
    const region = await passive.allocate(64);
    await Promise.all([a.post([send, send, send]), receiveAll(b, region, 3)]);
    expect(passive.stats().bytes.received).toBe(3);
  });
});

describe('an unsignalled send', () => {
  it('resolves when it is queued, and flush() when all before it are done', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const count = 200;
    for (const immediate of upTo(count)) {
      const queued = await a.send(new Uint8Array(0), { immediate, signaled: false });
      expect(queued).toBe(undefined);
    }
    let flushed = false;
    const flush = a.flush().then(() => {
      flushed = true;
    });
    expect(await receiveNumbers(b, region, count - 1)).toEqual(upTo(count - 1));
    expect(flushed).toBe(false);
    await Promise.all([flush, receiveNumbers(b, region, 1)]);
    await a.flush();
  });

  it('that fails ends the connection and rejects flush() and every later call', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const receiving = rejection(b.receive(region.subarray(0, 2)), 'ERR_RDMA_WC_LOC_LEN');
    await a.send(Uint8Array.of(1, 2, 3), { signaled: false });
    await rejection(a.flush(), 'ERR_RDMA_WC_REM_INV_REQ');
    await receiving;
    const { by, error } = await a.closed;
    expect({ by, code: error?.code }).toEqual({ by: 'error', code: 'ERR_RDMA_WC_REM_INV_REQ' });
    await rejection(a.send(Uint8Array.of(1)), 'ERR_RDMA_WC_REM_INV_REQ');
    await rejection(a.flush(), 'ERR_RDMA_WC_REM_INV_REQ');
    await rejection(a.ready(), 'ERR_RDMA_WC_REM_INV_REQ');
  });
});

describe('receives posted with connect() and accept()', () => {
  it('are there before the first message, and receive() without a slice waits for them', async () => {
    const active = await testEngine();
    const passive = await testEngine();
    const here = await active.allocate(256);
    const there = await passive.allocate(256);
    const [a, b] = await connectEngines(active, passive, {
      connect: { receives: [here.subarray(0, 64), here.subarray(64, 128)] },
      accept: { receives: [[there.subarray(0, 1), there.subarray(64, 128)], there.subarray(128)] },
    });
    // Nobody asks yet, and still the sends complete.
    await Promise.all([a.send(Uint8Array.of(1, 2, 3)), a.send(Uint8Array.of(4))]);
    await Promise.all([b.send(Uint8Array.of(5)), b.send(Uint8Array.of(6))]);
    expect([there.bytes[0], there.bytes[64], there.bytes[65], there.bytes[128]]).toEqual([
      1, 2, 3, 4,
    ]);
    expect((await b.receive()).slices).toHaveLength(2);
    expect([...(await b.receive()).bytes]).toEqual([4]);
    expect([...(await a.receive()).bytes, ...(await a.receive()).bytes]).toEqual([5, 6]);
    await rejection(a.receive(), 'ERR_RDMA_INVALID_STATE');
    await rejection(b.receive(), 'ERR_RDMA_INVALID_STATE');
    await expectWorks(a, b);
  });

  it('serve receive() with a slice first; that slice serves a later call', async () => {
    const active = await testEngine();
    const region = await active.allocate(256);
    const [a, b] = await connectEngines(active, active, {
      accept: { receives: [region.subarray(0, 64)] },
    });
    await a.send(Uint8Array.of(1));
    const { bytes } = await b.receive(region.subarray(64, 128));
    expect([bytes[0], bytes.byteOffset]).toEqual([1, region.bytes.byteOffset]);
    await a.send(Uint8Array.of(2));
    expect([...(await b.receive()).bytes]).toEqual([2]);
    expect(region.bytes[64]).toBe(2);
  });
});

it('64 connections on one engine carry messages both ways at once', async () => {
  const engine = await testEngine();
  const region = await engine.allocate(64 * 128);
  const pairs = await Promise.all(upTo(64).map(() => connectEngines(engine, engine)));
  const work = pairs.flatMap(([a, b], index) => {
    const at = index * 128;
    return upTo(20).flatMap((round) => [
      a.send(Uint8Array.of(index, round)),
      b.send(Uint8Array.of(round, index)),
      a.receive(region.subarray(at, at + 2)),
      b.receive(region.subarray(at + 64, at + 66)),
    ]);
  });
  await Promise.all(work);
  for (const index of upTo(64)) {
    const { bytes } = region.subarray(index * 128, index * 128 + 128);
    expect([bytes[0], bytes[1], bytes[64], bytes[65]]).toEqual([19, index, index, 19]);
  }
  expect(engine.stats()).toMatchObject({
    connections: 128,
    operationsInFlight: 0,
    bytes: { sent: 64 * 80, received: 64 * 80 },
  });
});

type Completions = [
  Awaited<ReturnType<Connection['receive']>>,
  Awaited<ReturnType<Connection['receive']>>,
  Awaited<ReturnType<Connection['receive']>>,
];

function receiveAll(connection: Connection, region: MemoryRegion, count: number) {
  return Promise.all(upTo(count).map(() => connection.receive(region)));
}
