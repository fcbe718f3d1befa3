// Abort and timeout end the wait, not the work.
import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import type { AbortError, WorkCompletion } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { abortion, codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectedPair, expectWorks } from '../helpers/pair.js';

expectNothingLeft();

const one = Uint8Array.of(1);
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Whether a promise is settled yet, as far as this turn knows. */
function watch(promise: Promise<unknown> | undefined): { settled: boolean } {
  const state = { settled: false };
  void promise?.finally(() => {
    state.settled = true;
  });
  return state;
}

describe('a posted send', () => {
  it('that is aborted still arrives; settled resolves when its memory is free', async () => {
    const { a, b, active, passive } = await connectedPair();
    const region = await active.allocate(64);
    region.bytes[0] = 7;
    const controller = new AbortController();
    const sending = a.send(region, { signal: controller.signal });
    controller.abort('why');
    const { settled } = await abortion(sending, 'why');
    const free = watch(settled);
    const closed = region.close();
    await expectTurns();
    expect(free.settled).toBe(false);
    const { bytes } = await b.receive(await passive.allocate(64));
    expect(bytes[0]).toBe(7);
    expect(await settled).toMatchObject({ operation: 'send', status: 'success', byteLength: 64 });
    await closed;
  });

  it('that times out does the same', async () => {
    const { a, b, passive } = await connectedPair();
    const error = await rejection(a.send(one, { timeoutMs: 20 }), 'ERR_RDMA_TIMEOUT');
    expect(error.operation).toBe('send');
    await b.receive(await passive.allocate(64));
    expect(await error.settled).toMatchObject({ status: 'success', byteLength: 1 });
  });

  it('that is aborted and then flushed says so in settled', async () => {
    const { a, b } = await connectedPair();
    const error = await rejection(a.send(one, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    await b.destroy();
    expect(await error.settled).toMatchObject({ operation: 'send', status: 'flushed' });
  });
});

describe('an operation that was not yet posted', () => {
  it('is removed by an abort: it never arrives', async () => {
    const { a, b, passive } = await connectedPair({ connect: { sendDepth: 1, receiveDepth: 1 } });
    const first = a.send(one, { immediate: 1 });
    const controller = new AbortController();
    const second = a.send(one, { immediate: 2, signal: controller.signal });
    const third = a.send(one, { immediate: 3 });
    controller.abort();
    const { settled } = await abortion(second, controller.signal.reason);
    expect(await settled).toMatchObject({ operation: 'send', status: 'not-posted', byteLength: 0 });
    const region = await passive.allocate(64);
    const received = [await b.receive(region), await b.receive(region)];
    expect(received.map(({ immediate }) => immediate)).toEqual([1, 3]);
    await Promise.all([first, third]);
  });

  it('is removed by its timeout too, a receive as well as a send', async () => {
    const { a, active } = await connectedPair({ connect: { receiveDepth: 1 } });
    const region = await active.allocate(64);
    const posted = codesOf([a.receive(region)]);
    const error = await rejection(a.receive(region, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    expect(await error.settled).toMatchObject({ operation: 'receive', status: 'not-posted' });
    expect(active.stats().posts.receive).toBe(1);
    await a.destroy();
    await posted;
  });

  it('is refused when its signal was aborted before the call', async () => {
    const { a, b, active } = await connectedPair();
    const signal = AbortSignal.abort('early');
    const region = await active.allocate(64);
    await abortion(a.send(one, { signal }), 'early');
    await abortion(a.receive(region, { signal }), 'early');
    await abortion(a.post([{ operation: 'send', source: one }], { signal }), 'early');
    expect(active.stats()).toMatchObject({ operationsInFlight: 0, queueWaits: 0 });
    await expectWorks(a, b);
  });
});

describe('a receive that nobody waits for any more', () => {
  it('gives its message, and its slice, to the next receive()', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(128);
    const [early, late] = [region.subarray(0, 64), region.subarray(64, 128)];
    const error = await rejection(b.receive(early, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    const free = watch(error.settled);
    await expectTurns();
    expect(free.settled).toBe(false);
    await a.send(Uint8Array.of(42));
    const next = await b.receive(late);
    expect([next.bytes[0], next.bytes.byteOffset]).toEqual([42, early.bytes.byteOffset]);
    expect(await error.settled).toBe(next);
    // The slice posted by that call serves the one after it.
    await a.send(Uint8Array.of(43));
    expect([...(await b.receive()).bytes, late.bytes[0]]).toEqual([43, 43]);
  });

  it('also when its message comes before that call', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const controller = new AbortController();
    const waiting = b.receive(region, { signal: controller.signal });
    controller.abort();
    const { settled } = await abortion(waiting, controller.signal.reason);
    await a.send(Uint8Array.of(9));
    expect(await settled).toMatchObject({ operation: 'receive', status: 'success', byteLength: 1 });
    expect([...(await b.receive()).bytes]).toEqual([9]);
  });

  it('says in settled when it was flushed', async () => {
    const { b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const error = await rejection(b.receive(region, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    await b.close();
    expect(await error.settled).toMatchObject({ operation: 'receive', status: 'flushed' });
    await region.close();
  });

  it('without a slice just stops waiting', async () => {
    const { a, b, passive } = await connectedPair({});
    const region = await passive.allocate(64);
    const first = await rejection(b.receive(region, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    const second = await rejection(b.receive(undefined, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    expect(await second.settled).toMatchObject({ operation: 'receive', status: 'not-posted' });
    await a.send(one);
    expect(await first.settled).toBe(await b.receive());
  });
});

describe('a batch that is aborted', () => {
  it('settles when the last of its operations has ended; they all still happen', async () => {
    const { a, b, active, passive } = await connectedPair();
    const [here, there] = [await active.allocate(64), await passive.allocate(64)];
    const controller = new AbortController();
    const posting = a.post(
      [
        { operation: 'send', source: one, immediate: 1 },
        { operation: 'receive', target: here },
        { operation: 'send', source: one, immediate: 2 },
      ],
      { signal: controller.signal },
    );
    controller.abort('why');
    const { settled } = (await abortion(posting, 'why')) as AbortError;
    const free = watch(settled);
    expect((await b.receive(there)).immediate).toBe(1);
    expect((await b.receive(there)).immediate).toBe(2);
    await expectTurns();
    expect(free.settled).toBe(false);
    await b.send(Uint8Array.of(5));
    await settled;
    // Its receive was not waited for any more.
    expect([...(await a.receive()).bytes]).toEqual([5]);
  });

  it('by its timeout rejects with ERR_RDMA_TIMEOUT', async () => {
    const { a, b, passive } = await connectedPair();
    const requests = [{ operation: 'send', source: one }] as const;
    const error = await rejection(a.post(requests, { timeoutMs: 5 }), 'ERR_RDMA_TIMEOUT');
    await b.receive(await passive.allocate(64));
    expect(await error.settled).toMatchObject({ operation: 'send', status: 'success' });
  });
});

it('a signal has one listener while operations follow it, and none when they are over', async () => {
  const { a, b, passive } = await connectedPair();
  const { signal } = new AbortController();
  const region = await passive.allocate(64);
  const options = { signal, timeoutMs: 10_000 };
  const work = [
    b.receive(region, options),
    a.send(one, options),
    b.receive(region, options),
    a.post([{ operation: 'send', source: one }], options),
  ];
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await Promise.all(work);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('random aborts and timeouts lose no message, repeat none and keep the order', async () => {
  const { a, b, passive } = await connectedPair({
    connect: { sendDepth: 4 },
    accept: { receiveDepth: 4 },
  });
  const region = await passive.allocate(64);
  const limit = fc.constantFrom('none', 'none', 'abort', 'later', 'timeout');
  const step = fc.record({ kind: fc.constantFrom('send', 'receive'), limit });
  // Over all runs: a receive of one may get a message of the next.
  const sent: Promise<WorkCompletion>[] = [];
  const got: (number | undefined)[] = [];
  const property = fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
    const run = async (kind: string, limit: string): Promise<void> => {
      const controller = new AbortController();
      const options = {
        signal: controller.signal,
        ...(limit === 'timeout' ? { timeoutMs: 1 } : {}),
      };
      const immediate = sent.length;
      const work =
        kind === 'send'
          ? a.send(one, { ...options, immediate })
          : b.receive(region.subarray(0, 1), options);
      if (kind === 'send') sent.push(outcomeOf(work));
      else void work.then((completion) => got.push(completion.immediate)).catch(() => {});
      if (limit === 'abort') controller.abort();
      if (limit === 'later') setImmediate(() => controller.abort());
    };
    for (const { kind, limit } of steps) await run(kind, limit);
    // Whatever is still to come is taken now, or known never to have been posted.
    let ended = false;
    const outcomes = Promise.all(sent).then((list) => {
      ended = true;
      return list;
    });
    while (!ended) {
      const options = { timeoutMs: 5 };
      const more = b.receive(region.subarray(0, 1), options);
      await more.then(({ immediate }) => got.push(immediate)).catch(() => {});
    }
    const arrived = (await outcomes).map(({ status }) => status === 'success');
    await drain(b, got); // what was received, but not yet asked for
    expect(got).toEqual([...arrived.keys()].filter((index) => arrived[index]));
  });
  await fc.assert(property, { numRuns: 15, endOnFailure: true });
});

/** How a send ended, whether somebody waited for that or not. */
function outcomeOf(work: Promise<WorkCompletion | undefined>): Promise<WorkCompletion> {
  return work.catch((error: AbortError) => error.settled) as Promise<WorkCompletion>;
}

/** Takes the messages that are here, until the oldest posted receive has none. */
async function drain(
  b: { receive(target: undefined, options: object): Promise<WorkCompletion> },
  got: unknown[],
): Promise<void> {
  for (;;) {
    try {
      got.push((await b.receive(undefined, { timeoutMs: 5 })).immediate);
    } catch {
      return;
    }
  }
}

/** Long enough for whatever is ready to be handled. */
async function expectTurns(): Promise<void> {
  for (const _ of times(20, () => 0)) await new Promise((resolve) => setImmediate(resolve));
}
