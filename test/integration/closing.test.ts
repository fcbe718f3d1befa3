// close() and destroy(), of connections and of engines: what is waited for, what is flushed, what the
// peer sees.
import { RdmaError } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import {
  connectEngines,
  connectedPair,
  expectServes,
  nextRequest,
  testEngine,
} from '../helpers/pair.js';
import { connectPeer } from '../helpers/peer.js';

expectNothingLeft();

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const one = Uint8Array.of(1);

describe('close()', () => {
  it('waits for posted and waiting sends; the peer gets them all, and then the end', async () => {
    const { a, b, passive } = await connectedPair({ connect: { sendDepth: 4 } });
    const region = await passive.allocate(1 << 20);
    const sends = times(10, (immediate) => a.send(new Uint8Array(immediate * 9000), { immediate }));
    let isClosed = false;
    const closing = a.close().then(() => {
      isClosed = true;
    });
    expect(a.state).toBe('closing');
    for (const immediate of times(10, (index) => index)) {
      expect(isClosed).toBe(false);
      const received = await b.receive(region);
      expect([received.immediate, received.byteLength]).toEqual([immediate, immediate * 9000]);
    }
    await closing;
    expect(await codesOf(sends)).toEqual(Array(10).fill(undefined));
    expect(await a.closed).toEqual({ by: 'local' });
    expect(await b.closed).toEqual({ by: 'peer' });
  });

  it('flushes receives at once, posted or waiting, though sends are outstanding', async () => {
    const { a, b, active, passive } = await connectedPair({ connect: { receiveDepth: 2 } });
    const region = await active.allocate(64);
    const receives = times(5, () => a.receive(region));
    const sent = a.send(one);
    const closing = a.close();
    expect(await codesOf(receives)).toEqual(Array(5).fill('ERR_RDMA_CLOSED'));
    expect(a.state).toBe('closing');
    await Promise.all([closing, sent, b.receive(await passive.allocate(64))]);
  });

  it('waits for unsignalled sends too', async () => {
    const { a, b, passive } = await connectedPair();
    for (const immediate of [1, 2, 3]) await a.send(one, { signaled: false, immediate });
    const closing = a.close();
    const region = await passive.allocate(64);
    const received = await Promise.all(times(3, () => b.receive(region)));
    expect(received.map(({ immediate }) => immediate)).toEqual([1, 2, 3]);
    await closing;
  });

  it('refuses what is called after it, on both sides', async () => {
    const { a, b, active, passive } = await connectedPair();
    const [here, there] = [await active.allocate(64), await passive.allocate(64)];
    await a.close();
    const calls = [
      () => a.send(one),
      () => a.send(one, { signaled: false }),
      () => a.receive(here),
      () => a.receive(),
      () => a.post([{ operation: 'send', source: one }]),
      () => a.post([{ operation: 'receive', target: here }]),
      () => a.flush(),
      () => a.ready(),
    ];
    for (const call of calls) await rejection(call(), 'ERR_RDMA_CLOSED');
    await b.closed;
    await rejection(b.send(one), 'ERR_RDMA_DISCONNECTED');
    await rejection(b.receive(there), 'ERR_RDMA_DISCONNECTED');
    await rejection(b.flush(), 'ERR_RDMA_DISCONNECTED');
    await b.close();
  });

  it('may be called twice, after the end, and on both sides at once', async () => {
    for (let round = 0; round < 10; round++) {
      const { a, b } = await connectedPair({ engines: 1 });
      await Promise.all([a.close(), b.close(), a.close(), b.close()]);
      await Promise.all([a.close(), b.destroy(), a.destroy()]);
      for (const { by } of [await a.closed, await b.closed])
        expect(['local', 'peer']).toContain(by);
      expect([a.state, b.state]).toEqual(['closed', 'closed']);
    }
  });

  it('towards a stopped process is bounded by its timeout, when there are sends to wait for', async () => {
    const engine = await testEngine();
    const { peer, connection } = await connectPeer(engine);
    peer.stop();
    const sends = codesOf(times(3, () => connection.send(one)));
    const error = await rejection(connection.close({ timeoutMs: 50 }), 'ERR_RDMA_TIMEOUT');
    expect(error.message).toContain('50 ms');
    expect(await sends).toEqual(Array(3).fill('ERR_RDMA_TIMEOUT'));
    expect(await connection.closed).toMatchObject({ by: 'error', error: { code: error.code } });
    await expectServes(engine);
    await peer.kill();
  });

  it('towards a stopped process that owes nothing does not wait for it', async () => {
    const engine = await testEngine();
    const { peer, connection, index } = await connectPeer(engine);
    peer.stop();
    await connection.close();
    peer.goOn();
    expect(await peer.call('closed', index)).toEqual({ by: 'peer' });
    await peer.finish();
  });
});

describe('destroy()', () => {
  it('flushes everything with ERR_RDMA_CLOSED; the peer sees the connection dropped', async () => {
    const { a, b, active } = await connectedPair();
    const region = await active.allocate(64);
    const work = codesOf([
      ...times(70, () => a.send(one)),
      ...times(70, () => a.receive(region)),
      a.post([
        { operation: 'send', source: one },
        { operation: 'receive', target: region },
      ]),
      a.flush(),
    ]);
    await a.destroy();
    expect(await work).toEqual(Array(142).fill('ERR_RDMA_CLOSED'));
    expect(await a.closed).toEqual({ by: 'local' });
    expect(await b.closed).toMatchObject({ by: 'error', error: { code: 'ERR_RDMA_DISCONNECTED' } });
    await region.close();
  });

  it('with an error rejects what is outstanding with it', async () => {
    const { a } = await connectedPair();
    const error = new RdmaError('ERR_RDMA_PROTOCOL', 'The message made no sense.');
    const sending = rejection(a.send(one), 'ERR_RDMA_PROTOCOL');
    await a.destroy(error);
    expect(await sending).toBe(error);
    expect(await a.closed).toEqual({ by: 'error', error });
    const { a: other } = await connectedPair();
    const cause = new Error('no reason');
    const failing = rejection(other.send(one), 'ERR_RDMA_CLOSED');
    await other.destroy(cause);
    expect((await failing).cause).toBe(cause);
  });

  it('during close() ends it', async () => {
    const { a } = await connectedPair();
    const sending = rejection(a.send(one), 'ERR_RDMA_CLOSED');
    const closing = a.close();
    await a.destroy();
    await Promise.all([closing, sending]);
  });
});

describe('messages that nobody asked for before the end', () => {
  it('are handed out after it, in order, and then the end is told', async () => {
    const active = await testEngine();
    const passive = await testEngine();
    const region = await passive.allocate(256);
    const receives = times(4, (index) => region.subarray(index * 64, index * 64 + 64));
    const [a, b] = await connectEngines(active, passive, { accept: { receives } });
    await Promise.all(times(3, (index) => a.send(Uint8Array.of(index))));
    await a.close();
    await b.closed;
    expect([...(await b.receive()).bytes]).toEqual([0]);
    expect([...(await b.receive(region)).bytes]).toEqual([1]);
    expect([...(await b.receive()).bytes]).toEqual([2]);
    await rejection(b.receive(), 'ERR_RDMA_DISCONNECTED');
  });

  it('are delivered before the end although the peer closed at once', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(64 * 8);
    const receives = times(40, () => b.receive(region));
    for (const immediate of times(30, (index) => index)) {
      void a.send(one, { immediate, signaled: false });
    }
    await a.close();
    const immediates = await Promise.all(receives.slice(0, 30));
    expect(immediates.map(({ immediate }) => immediate)).toEqual(times(30, (index) => index));
    expect(await codesOf(receives.slice(30))).toEqual(Array(10).fill('ERR_RDMA_DISCONNECTED'));
  });
});

describe('engine.close()', () => {
  it('closes everything that is open on it, and tells every promise', async () => {
    const { a, b, active, passive } = await connectedPair();
    const region = await active.allocate(4096);
    region.bytes.fill(7);
    const listener = await active.listen();
    const unanswered = passive.connect(listener.address);
    const request = await nextRequest(listener);
    const connecting = active.connect((await passive.listen()).address);
    const loop = listener[Symbol.asyncIterator]().next();
    const work = codesOf([a.receive(region), unanswered, connecting]);
    await Promise.all([active.close(), active.close()]);
    expect(await active.closed).toBe(undefined);
    const [receive, connect, ours] = await work;
    expect(receive).toBe('ERR_RDMA_CLOSED');
    expect(['ERR_RDMA_REJECTED', 'ERR_RDMA_DISCONNECTED']).toContain(connect);
    expect(ours).toBe('ERR_RDMA_CLOSED');
    expect(await loop).toEqual({ done: true, value: undefined });
    expect([await a.closed, await b.closed]).toEqual([{ by: 'local' }, { by: 'peer' }]);
    expect(region.bytes.every((byte) => byte === 0)).toBe(true);
    await Promise.all([region.close(), listener.close(), a.close(), a.destroy()]);
    const later = [
      () => active.listen(),
      () => active.connect({ port: 1 }),
      () => active.allocate(64),
      () => active.register(new Uint8Array(new SharedArrayBuffer(8))),
      () => request.accept(),
    ];
    for (const call of later) await rejection(call(), 'ERR_RDMA_CLOSED');
    expect(active.stats()).toMatchObject({ connections: 0, listeners: 0, regions: 0 });
    await expectServes(passive);
  });

  it('waits for sends, and after its timeout flushes them', async () => {
    const { a, b, active, passive } = await connectedPair();
    const sent = a.send(one);
    const closing = active.close();
    await b.receive(await passive.allocate(64));
    await Promise.all([closing, sent]);
    const other = await connectedPair();
    const stuck = codesOf([other.a.send(one)]);
    await other.active.close({ timeoutMs: 20 });
    expect(await stuck).toEqual(['ERR_RDMA_TIMEOUT']);
  });

  it('with both ends on it settles the work of both', async () => {
    const { a, b, active } = await connectedPair({ engines: 1 });
    const region = await active.allocate(64);
    const work = codesOf([
      a.receive(region),
      b.receive(region),
      b.send(one, { timeoutMs: 10_000 }),
    ]);
    await active.close();
    for (const code of (await work).slice(0, 2)) {
      expect(['ERR_RDMA_CLOSED', 'ERR_RDMA_DISCONNECTED', undefined]).toContain(code);
    }
  });

  it('destroy() does the same without waiting', async () => {
    const { a, b, active } = await connectedPair();
    const error = new RdmaError('ERR_RDMA_INTERNAL', 'The test is over.');
    const sending = rejection(a.send(one), 'ERR_RDMA_INTERNAL');
    await active.destroy(error);
    await sending;
    expect(await active.closed).toBe(error);
    expect(await a.closed).toEqual({ by: 'error', error });
    expect(await b.closed).toMatchObject({ by: 'error', error: { code: 'ERR_RDMA_DISCONNECTED' } });
  });
});
