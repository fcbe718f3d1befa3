// What a program sees without asking: states, completions, counters, and the async context it is in.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { StateChange, WorkCompletion } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { codesOf } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import {
  blockUntil,
  connectEngines,
  connectedPair,
  expectWorks,
  testEngine,
  until,
} from '../helpers/pair.js';
import { connectPeer } from '../helpers/peer.js';

expectNothingLeft();

describe('state$', () => {
  it('gives the state now, every change, then completes with the reason', async () => {
    const { a, b } = await connectedPair();
    const seen: StateChange[] = [];
    const completed = new Promise<void>((complete, error) => {
      a.state$.subscribe({ next: (change) => seen.push(change), error, complete });
    });
    expect(seen).toEqual([{ state: 'connected' }]);
    await a.close();
    await completed;
    expect(seen).toEqual([
      { state: 'connected' },
      { state: 'closing' },
      { state: 'closed', reason: { by: 'local' } },
    ]);
    expect(await b.closed).toEqual({ by: 'peer' });
  });

  it('replays the last state, with its reason, to who comes after the end', async () => {
    const { a, b } = await connectedPair();
    await a.close();
    await b.closed;
    const seen: unknown[] = [];
    b.state$.subscribe({ next: (change) => seen.push(change), complete: () => seen.push('end') });
    expect(seen).toEqual([{ state: 'closed', reason: { by: 'peer' } }, 'end']);
    expect(b.state).toBe('closed');
  });

  it('tells each subscriber, until it unsubscribes', async () => {
    const { a } = await connectedPair();
    const seen: string[][] = [[], []];
    const [first] = seen.map((list) => a.state$.subscribe(({ state }) => list.push(state)));
    first?.unsubscribe();
    await a.close();
    expect(seen).toEqual([['connected'], ['connected', 'closing', 'closed']]);
  });
});

describe('completions$', () => {
  it('gives every completion once, in arrays, and ends with the connection', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const sent: WorkCompletion[][] = [];
    const received: WorkCompletion[][] = [];
    const ended = Promise.all([
      new Promise<void>((complete) => {
        a.completions$.subscribe({ next: (list) => sent.push(list), complete });
      }),
      new Promise<void>((complete) => {
        b.completions$.subscribe({ next: (list) => received.push(list), complete });
      }),
    ]);
    const work = Array.from({ length: 100 }, (_, immediate) => [
      b.receive(region),
      a.send(Uint8Array.of(immediate), { immediate }),
    ]);
    await Promise.all(work.flat());
    const posted = b.receive(region).catch(() => {});
    await a.close();
    await Promise.all([ended, posted]);
    const sends = sent.flat();
    expect(sends.map(({ operation }) => operation)).toEqual(Array(100).fill('send'));
    expect([...sent, ...received].every((list) => list.length > 0)).toBe(true);
    const receives = received.flat();
    expect(receives.map(({ immediate }) => immediate)).toEqual([
      ...Array.from({ length: 100 }, (_, index) => index),
      undefined,
    ]);
    expect(receives.at(-1)).toMatchObject({ operation: 'receive', status: 'flushed' });
  });

  it('tells nobody of completions before the subscription or after its end', async () => {
    const { a, b } = await connectedPair();
    await expectWorks(a, b);
    let seen = 0;
    const subscription = a.completions$.subscribe((list) => {
      seen += list.length;
    });
    await expectWorks(a, b);
    subscription.unsubscribe();
    await expectWorks(a, b);
    expect(seen).toBe(2);
  });
});

it('a program that was busy hears of 1,024 completions a turn, and of the end after them all', async () => {
  const engine = await testEngine();
  const { peer, connection, index } = await connectPeer(engine, {}, {}, { receiveDepth: 4000 });
  const region = await engine.allocate(64);
  const lengths: number[] = [];
  connection.completions$.subscribe((list) => lengths.push(list.length));
  const receives = codesOf(Array.from({ length: 3500 }, () => connection.receive(region)));
  await until(() => engine.stats().posts.receive === 3500);
  const closed = peer.call('sendAndClose', index, 3000);
  blockUntil(() => engine.stats().completions.flushed === 500);
  expect(await receives).toEqual([
    ...Array(3000).fill(undefined),
    ...Array(500).fill('ERR_RDMA_DISCONNECTED'),
  ]);
  expect(await connection.closed).toEqual({ by: 'peer' });
  expect(lengths).toEqual([1024, 1024, 1024, 428]);
  await closed;
  await peer.finish();
});

describe('stats()', () => {
  it('counts what was posted, completed and carried, and what is open', async () => {
    const { a, b, active, passive } = await connectedPair();
    const region = await passive.allocate(4096);
    for (const length of [0, 100, 4000]) {
      await Promise.all([b.receive(region), a.send(new Uint8Array(length))]);
    }
    const flushed = Promise.allSettled([b.receive(region), b.receive(region)]);
    await a.close();
    await flushed;
    await b.close(); // until nothing is left of it
    const [sender, receiver] = [active.stats(), passive.stats()];
    expect(sender.posts).toEqual({ send: 3, receive: 0, read: 0, write: 0, atomic: 0 });
    expect(sender.completions).toEqual({ success: 3 });
    expect(sender.bytes).toEqual({ sent: 4100, received: 0, read: 0, written: 0 });
    expect(receiver.posts).toEqual({ send: 0, receive: 5, read: 0, write: 0, atomic: 0 });
    expect(receiver.completions).toEqual({ success: 3, flushed: 2 });
    expect(receiver.bytes).toEqual({ sent: 0, received: 4100, read: 0, written: 0 });
    for (const stats of [sender, receiver]) {
      expect(stats).toMatchObject({ operationsInFlight: 0, recordsRefused: 0, connections: 0 });
      expect(stats.poller.steps).toBeGreaterThan(0);
      expect(stats.wakes).toBeGreaterThan(0);
    }
  });

  it('counts operations that wait for a place in their queue', async () => {
    const { a, b, active, passive } = await connectedPair({ connect: { sendDepth: 2 } });
    const region = await passive.allocate(64);
    const sends = Array.from({ length: 5 }, () => a.send(Uint8Array.of(1)));
    expect(active.stats()).toMatchObject({ queueWaits: 3, operationsInFlight: 2 });
    await Promise.all([...sends, ...sends.map(() => b.receive(region))]);
    expect(active.stats()).toMatchObject({ queueWaits: 3, operationsInFlight: 0 });
  });
});

describe('the async context', () => {
  it('of an await is its own, and of observables that of the connection', async () => {
    const storage = new AsyncLocalStorage<string>();
    const engine = await testEngine();
    const region = await engine.allocate(64);
    const [a, b] = await storage.run('opened', () => connectEngines(engine, engine));
    const seen: Record<string, unknown> = {};
    a.completions$.subscribe(() => {
      seen.completions = storage.getStore();
    });
    a.state$.subscribe(({ state }) => {
      seen[state] = storage.getStore();
    });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        storage.run(`operation ${index}`, async () => {
          await Promise.all([b.receive(region), a.send(Uint8Array.of(index))]);
          expect(storage.getStore()).toBe(`operation ${index}`);
        }),
      ),
    );
    await storage.run('closing', () => a.close());
    expect(seen).toEqual({
      connected: 'opened',
      completions: 'opened',
      closing: 'opened',
      closed: 'opened',
    });
  });

  it('of a callback that is called late is that of its await', async () => {
    const storage = new AsyncLocalStorage<number>();
    const { a, b } = await connectedPair();
    const inContext = storage.run(1, () => a.send(Uint8Array.of(1)).then(() => storage.getStore()));
    const ended = storage.run(2, () => a.closed.then(() => storage.getStore()));
    const region = await b.engine.allocate(64);
    await storage.run(3, () => b.receive(region));
    await b.close();
    expect([await inContext, await ended]).toEqual([1, 2]);
  });
});
