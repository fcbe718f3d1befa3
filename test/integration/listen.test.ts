// Listeners: their ports, their loops, their addresses, their end.
import type { Engine } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { codesOf, rejection } from '../helpers/errors.js';
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

describe('a listener', () => {
  it('is open after its loop was left, and the loop ends when it is closed', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const served: number[] = [];
    const serve = async (count: number): Promise<void> => {
      for await (const request of listener) {
        await request.accept();
        served.push(count);
        if (count > 0) break;
      }
    };
    for (const count of [1, 2]) {
      await Promise.all([serve(count), engine.connect(listener.address)]);
    }
    const last = serve(0);
    await engine.connect(listener.address);
    await listener.close();
    await last;
    await listener.closed;
    expect(served).toEqual([1, 2, 0]);
    await rejection(engine.connect(listener.address), 'ERR_RDMA_UNREACHABLE');
  });

  it('gives a request to one of several loops, and none is lost when one is left', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const [one, other] = [listener[Symbol.asyncIterator](), listener[Symbol.asyncIterator]()];
    const left = one.next();
    const waiting = other.next();
    await one.return?.();
    expect(await left).toEqual({ done: true, value: undefined });
    const connecting = engine.connect(listener.address);
    const { value: request } = await waiting;
    await request?.accept();
    await connecting;
  });

  it('that closes rejects who waits; what was taken before can still be answered', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const taken = engine.connect(listener.address);
    const request = await nextRequest(listener);
    const waiting = [1, 2, 3].map(() => engine.connect(listener.address));
    // They are at the listener once the engine knows both ends of each.
    await until(() => engine.stats().connections === 8);
    await listener.close();
    expect(await codesOf(waiting)).toEqual(Array(3).fill('ERR_RDMA_REJECTED'));
    await expectWorks(...(await Promise.all([taken, request.accept()])));
  });

  it('leaves its port free when it is closed', async () => {
    const engine = await testEngine();
    const other = await testEngine();
    const { address, close } = await listen(engine);
    for (const again of [engine, other, engine]) {
      await rejection(again.listen({ port: address.port }), 'ERR_RDMA_ADDRESS_IN_USE');
    }
    await close();
    const next = await listen(other, address.port);
    await next.close();
    await engine.close();
    await listen(other, address.port);
  });

  it('of a killed process leaves its port free at once', async () => {
    const engine = await testEngine();
    const peer = await testPeer();
    const { port } = await peer.call<{ port: number }>('listen');
    await rejection(engine.listen({ port }), 'ERR_RDMA_ADDRESS_IN_USE');
    await peer.kill();
    await rejection(engine.connect({ port }), 'ERR_RDMA_UNREACHABLE');
    const { listener } = await acceptAll(engine, { port });
    await engine.connect(listener.address);
  });

  it.each(['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'])(
    'on %s can be reached',
    async (host) => {
      const engine = await testEngine();
      const { listener, port } = await acceptAll(engine, { host });
      expect(listener.address.port).toBeGreaterThan(0);
      await engine.connect({ port });
      await engine.connect({ port, host });
    },
  );

  it('needs an address of this host, as connect() does', async () => {
    const engine = await testEngine();
    const away = { host: '192.0.2.1', port: 7471 };
    await rejection(engine.listen(away), 'ERR_RDMA_ADDRESS_NOT_LOCAL');
    await rejection(engine.connect(away), 'ERR_RDMA_ADDRESS_NOT_LOCAL');
    const nowhere = { host: 'no-such-host.invalid', port: 7471 };
    await rejection(engine.listen(nowhere), 'ERR_RDMA_ADDR_UNRESOLVED');
    await rejection(engine.connect(nowhere), 'ERR_RDMA_ADDR_UNRESOLVED');
    await expectServes(engine);
  });
});

async function listen(engine: Engine, port = 0) {
  const listener = await engine.listen({ port });
  return { address: listener.address, close: () => listener.close() };
}
