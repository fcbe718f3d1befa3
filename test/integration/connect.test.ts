// How connections come about, or do not.
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { abortion, codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import {
  acceptAll,
  expectServes,
  expectWorks,
  nextRequest,
  testEngine,
  until,
} from '../helpers/pair.js';
import { testPeer } from '../helpers/peer.js';

expectNothingLeft();

describe('a request', () => {
  it('says who asks, and both ends know each other’s address', async () => {
    const engine = await testEngine();
    const peer = await testPeer();
    const { address } = await engine.listen();
    const listener = await engine.listen();
    const connecting = peer.call<number>('connect', { port: listener.address.port });
    const request = await nextRequest(listener);
    const known = { processId: peer.pid, userId: process.geteuid?.() };
    expect(request.peer).toMatchObject({ ...known, host: '127.0.0.1' });
    const connection = await request.accept();
    await connecting;
    expect(connection.peer).toMatchObject(known);
    expect(connection.localAddress).toEqual(listener.address);
    expect(address.port).not.toBe(listener.address.port);
  });

  it('is answered once', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const connecting = engine.connect(listener.address);
    const request = await nextRequest(listener);
    const accepting = request.accept();
    await rejection(request.accept(), 'ERR_RDMA_INVALID_STATE');
    await rejection(request.reject(), 'ERR_RDMA_INVALID_STATE');
    await expectWorks(await connecting, await accepting);
    const refused = rejection(engine.connect(listener.address), 'ERR_RDMA_REJECTED');
    const other = await nextRequest(listener);
    await other.reject();
    await rejection(other.accept(), 'ERR_RDMA_INVALID_STATE');
    await refused;
  });

  it('that nobody answers is rejected after ten seconds', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const connecting = engine.connect({ ...listener.address, timeoutMs: 60_000 });
    const refused = rejection(connecting, 'ERR_RDMA_REJECTED');
    const taken = await nextRequest(listener);
    const forgotten = rejection(
      engine.connect({ ...listener.address, timeoutMs: 60_000 }),
      'ERR_RDMA_REJECTED',
    );
    await until(() => engine.stats().connections === 4);
    vi.advanceTimersByTime(9_990);
    expect(engine.stats().connections).toBe(4);
    vi.advanceTimersByTime(100);
    await Promise.all([refused, forgotten]);
    expect((await rejection(taken.accept(), 'ERR_RDMA_INVALID_STATE')).message).toContain(
      'in time',
    );
    vi.useRealTimers();
    // Nobody gets the other one any more.
    await expectServes(engine);
    const next = engine.connect(listener.address);
    await (await nextRequest(listener)).accept();
    await next;
  });

  it('above the backlog is rejected, and the ones below it can be answered', async () => {
    const engine = await testEngine();
    const listener = await engine.listen({ backlog: 2 });
    const connects = Array.from({ length: 2 }, () => engine.connect(listener.address));
    const first = await nextRequest(listener);
    const second = await nextRequest(listener);
    const { message } = await rejection(engine.connect(listener.address), 'ERR_RDMA_REJECTED');
    expect(message).toContain('backlog');
    await Promise.all([...connects, first.accept(), second.accept()]);
    const third = engine.connect(listener.address);
    const accepted = await (await nextRequest(listener)).accept();
    await expectWorks(await third, accepted);
  });

  it('that its peer withdrew can no longer be accepted', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const controller = new AbortController();
    const connecting = engine.connect({ ...listener.address, signal: controller.signal });
    const request = await nextRequest(listener);
    controller.abort('changed my mind');
    await abortion(connecting, 'changed my mind');
    await rejection(request.accept(), 'ERR_RDMA_DISCONNECTED');
    await expectServes(engine);
  });

  it('whose process was killed can no longer be accepted', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const peer = await testPeer();
    await peer.call('startConnect', { port: listener.address.port });
    const request = await nextRequest(listener);
    await peer.kill();
    await rejection(request.accept(), 'ERR_RDMA_DISCONNECTED');
    await expectServes(engine);
  });

  it('of a stopped process: accept() ends with its timeout or its signal', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const peer = await testPeer();
    for (const count of [1, 2])
      await peer.call('startConnect', { port: listener.address.port }, count);
    const [first, second] = [await nextRequest(listener), await nextRequest(listener)];
    peer.stop();
    await rejection(first.accept({ timeoutMs: 50 }), 'ERR_RDMA_TIMEOUT');
    const controller = new AbortController();
    const accepting = abortion(second.accept({ signal: controller.signal }), 'enough');
    controller.abort('enough');
    await accepting;
    await expectServes(engine);
  });
});

describe('connect()', () => {
  it('to nobody is refused', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const { address } = listener;
    await listener.close();
    const error = await rejection(engine.connect(address), 'ERR_RDMA_UNREACHABLE');
    expect(error.operation).toBe('connect');
    expect(error.remoteAddress).toEqual(address);
  });

  it('64 times at once, both ways between two engines, connects all', async () => {
    const engines = [await testEngine(), await testEngine()] as const;
    const [one, other] = [await acceptAll(engines[0]), await acceptAll(engines[1])];
    const connects = Array.from({ length: 64 }, () => [
      engines[0].connect({ port: other.port }),
      engines[1].connect({ port: one.port }),
    ]).flat();
    const connections = await Promise.all(connects);
    await until(() => one.accepted.length === 64 && other.accepted.length === 64);
    await Promise.all(connections.map((connection) => connection.close()));
    await Promise.all([...one.accepted, ...other.accepted].map(({ closed }) => closed));
  });

  it('with a signal that is aborted, before or meanwhile, rejects with an AbortError', async () => {
    const engine = await testEngine();
    const { address } = await engine.listen();
    await abortion(engine.connect({ ...address, signal: AbortSignal.abort('early') }), 'early');
    expect(engine.stats().connections).toBe(0);
    const controller = new AbortController();
    const connecting = engine.connect({ ...address, signal: controller.signal });
    controller.abort('late');
    await abortion(connecting, 'late');
    await expectServes(engine);
  });

  it('to a stopped process ends with its timeout or its signal, and works once that goes on', async () => {
    const engine = await testEngine();
    const peer = await testPeer();
    const { port } = await peer.call<{ port: number }>('listen');
    peer.stop();
    const error = await rejection(engine.connect({ port, timeoutMs: 50 }), 'ERR_RDMA_TIMEOUT');
    expect(error.message).toContain('50 ms');
    const controller = new AbortController();
    const aborted = abortion(engine.connect({ port, signal: controller.signal }), 'enough');
    controller.abort('enough');
    await aborted;
    const connecting = engine.connect({ port });
    peer.goOn();
    // Of the withdrawn requests it may see some; they reject there.
    await answer(peer);
    await connecting;
  });

  it('to a process that is killed before it answers rejects', async () => {
    const engine = await testEngine();
    const peer = await testPeer();
    const { port } = await peer.call<{ port: number }>('listen');
    const connecting = rejection(engine.connect({ port }), 'ERR_RDMA_DISCONNECTED');
    await until(() => engine.stats().connections === 1);
    await peer.kill();
    await connecting;
    await expectServes(engine);
  });

  it('while the listener closes, again and again, is accepted or refused, and settles', async () => {
    const engine = await testEngine();
    for (let round = 0; round < 30; round++) {
      const { listener } = await acceptAll(engine);
      const connects = [1, 2, 3].map(() => engine.connect(listener.address));
      const codes = codesOf(connects);
      await Promise.resolve();
      await listener.close();
      for (const code of await codes) {
        expect([
          undefined,
          'ERR_RDMA_REJECTED',
          'ERR_RDMA_UNREACHABLE',
          'ERR_RDMA_DISCONNECTED',
        ]).toContain(code);
      }
    }
    await expectServes(engine);
  });

  it('again to a peer that was restarted on the same port works', async () => {
    const engine = await testEngine();
    const first = await testPeer();
    const { port } = await first.call<{ port: number }>('listen');
    const [old] = await Promise.all([engine.connect({ port }), first.call('accept')]);
    await first.kill();
    expect(await old.closed).toMatchObject({
      by: 'error',
      error: { code: 'ERR_RDMA_DISCONNECTED' },
    });
    const second = await testPeer();
    await second.call('listen', { port });
    await Promise.all([engine.connect({ port }), second.call('accept')]);
  });
});

/** Accepts until a request is still wanted by its peer. */
async function answer(peer: Awaited<ReturnType<typeof testPeer>>): Promise<void> {
  for (;;) {
    try {
      await peer.call('accept');
      return;
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_RDMA_DISCONNECTED' });
    }
  }
}
