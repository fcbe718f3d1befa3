// Objects that end while others begin, and ends that cross each other.
import { createRequire } from 'node:module';
import type { Connection, Engine, Listener } from 'queuepair';
import { describe, expect, it } from 'vitest';
import type { NativeAddon } from '../../src/engine/native.js';
import { codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import {
  connectEngines,
  connectedPair,
  expectServes,
  nextRequest,
  testEngine,
  until,
} from '../helpers/pair.js';

expectNothingLeft();

/** Keeps this thread from hearing of anything until native code has gone on. */
function holdThreadUntil(isSo: () => boolean): void {
  const deadline = performance.now() + 5000;
  while (!isSo() && performance.now() < deadline);
}

describe('a native slot that is used again before the end of its last object was heard of', () => {
  /** Native code has taken the control request, and has had the time to carry it out. */
  function holdThread(engine: Engine): void {
    const { steps } = engine.stats().poller;
    holdThreadUntil(() => engine.stats().poller.steps > steps + 50);
  }

  it('keeps regions apart', async () => {
    const engine = await testEngine({ polling: 'spin' });
    const first = await engine.allocate(4096);
    const closed = first.close();
    await Promise.resolve();
    holdThread(engine);
    const second = await engine.allocate(4096);
    await closed;
    expect([first.closed, second.closed]).toEqual([true, false]);
    expect(engine.stats().regions).toBe(1);
    await second.close();
    expect(engine.stats().regions).toBe(0);
  });

  it('keeps listeners apart', async () => {
    const engine = await testEngine({ polling: 'spin' });
    const first = await engine.listen();
    const closed = first.close();
    holdThread(engine);
    const second = await engine.listen();
    await closed;
    expect(engine.stats().listeners).toBe(1);
    const [a] = await Promise.all([
      engine.connect({ port: second.address.port }),
      nextRequest(second).then((request) => request.accept()),
    ]);
    expect(a.state).toBe('connected');
    await second.close();
  });

  it('keeps connections apart', async () => {
    const engine = await testEngine({ polling: 'spin' });
    const listener = await (await testEngine()).listen();
    const connect = (): Promise<[Connection, Connection]> =>
      Promise.all([
        engine.connect({ port: listener.address.port }),
        nextRequest(listener).then((request) => request.accept()),
      ]);
    const [first] = await connect();
    const destroyed = first.destroy();
    holdThread(engine);
    const [second] = await connect();
    await destroyed;
    expect([first.state, second.state]).toEqual(['closed', 'connected']);
    expect(engine.stats().connections).toBe(1);
  });

  it('closes the memory of many long copies, and counts none of it', async () => {
    const { active, passive, a, b } = await connectedPair();
    const target = await passive.allocate(3 << 20);
    const bytes = new Uint8Array(2 << 20);
    const loop = async (): Promise<void> => {
      for (let count = 0; count < 8; count++) await a.send(bytes);
    };
    const receive = async (): Promise<void> => {
      for (let count = 0; count < 48; count++) await b.receive(target);
    };
    await Promise.all([receive(), ...Array.from({ length: 6 }, loop)]);
    expect(active.stats().regions).toBe(0);
    await target.close();
  });
});

it('requests that were withdrawn cost nothing, whenever they are accepted', async () => {
  const engine = await testEngine({ maxOperations: 256 });
  const client = await testEngine();
  const listener = await engine.listen();
  for (let count = 0; count < 3; count++) {
    const connecting = client.connect({ port: listener.address.port, timeoutMs: 20 });
    const request = await nextRequest(listener);
    await rejection(connecting, 'ERR_RDMA_TIMEOUT');
    await until(() => engine.stats().connections === 0);
    await rejection(request.accept(), 'ERR_RDMA_DISCONNECTED');
  }
  // All op slots are there for a connection of 128 + 128.
  await Promise.all([
    client.connect({ port: listener.address.port }),
    nextRequest(listener).then((request) => request.accept({ sendDepth: 128, receiveDepth: 128 })),
  ]);
  await listener.close();
});

describe('a poller that ends', () => {
  const addon = createRequire(import.meta.url)(
    `../../prebuilds/${process.platform}-${process.arch}.node`,
  ) as NativeAddon;

  /** Lanes have rising numbers, so a new lane tells those of the engines opened around it. */
  async function engineWithLane(): Promise<{ engine: Engine; lane: number }> {
    const built = new URL('../../dist/api/engine.js', import.meta.url).href;
    const { coreOf } = (await import(built)) as typeof import('../../src/api/engine.js');
    const engine = await testEngine();
    return { engine, lane: coreOf(engine).lane };
  }

  it('settles whatever waits, with the reason', async () => {
    const { engine, lane } = await engineWithLane();
    const [a, b] = await connectEngines(engine, engine);
    const listener = await engine.listen();
    const region = await engine.allocate(4096);
    const received = b.receive(region);
    const next = listener[Symbol.asyncIterator]().next();
    addon.requestStop(lane);
    const late = engine.listen();
    expect(await codesOf([received, late])).toEqual(Array(2).fill('ERR_RDMA_POLLER_EXITED'));
    expect((await next).done).toBe(true);
    await Promise.all([region.close(), listener.close()]);
    expect((await engine.closed)?.code).toBe('ERR_RDMA_POLLER_EXITED');
    expect((await a.closed).error?.code).toBe('ERR_RDMA_POLLER_EXITED');
    await rejection(engine.allocate(8), 'ERR_RDMA_POLLER_EXITED');
  });

  it('while the engine is closed lets close() end', async () => {
    const { engine, lane } = await engineWithLane();
    await engine.listen();
    addon.requestStop(lane);
    await engine.close();
  });
});

it('engine.close() keeps its own time, whatever was asked of a connection before', async () => {
  const { active, a } = await connectedPair();
  void a.send(Uint8Array.of(1)); // nobody receives it
  const slow = codesOf([a.close({ timeoutMs: 25_000 })]);
  await active.close({ timeoutMs: 20 });
  expect(a.state).toBe('closed');
  expect(await slow).toEqual(['ERR_RDMA_TIMEOUT']);
});

it('more receives than the submission ring holds are posted without waiting for a clock', async () => {
  const kCount = 16_384;
  const connect = { receiveDepth: kCount };
  const { active, a } = await connectedPair({ engine: { polling: 'event' }, connect });
  const region = await active.allocate(8);
  const { parkTimeouts } = active.stats().poller;
  const { receive } = active.stats().posts;
  for (let count = 0; count < kCount; count++) void a.receive(region);
  await until(() => active.stats().posts.receive === receive + kCount);
  // A wake that is lost costs one for each 1,024; a busy machine one now and then.
  expect(active.stats().poller.parkTimeouts - parkTimeouts).toBeLessThanOrEqual(5);
});

it('rejecting keeps the process alive until the peer was told, and needs no listener', async () => {
  const engine = await testEngine();
  const listener: Listener = await engine.listen();
  const connecting = codesOf([engine.connect({ port: listener.address.port })]);
  const request = await nextRequest(listener);
  await listener.close();
  await request.reject();
  expect(await connecting).toEqual(['ERR_RDMA_REJECTED']);
  await expectServes(engine);
});
