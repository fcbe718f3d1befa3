// What programs see when a part of the native core misbehaves.
import type { Connection } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { completionStatuses, statusCode } from '../../src/engine/status.js';
import { codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectedPair, expectServes, expectWorks, testEngine, until } from '../helpers/pair.js';

// The built module, for it shares its state with the built package.
type Testing = typeof import('../../src/api/testing.js');
const built = new URL('../../dist/api/testing.js', import.meta.url).href;
const { injectFault } = (await import(built)) as Testing;

expectNothingLeft();

const one = Uint8Array.of(1);

async function exchange(from: Connection, to: Connection, count: number): Promise<number[]> {
  const region = await to.engine.allocate(64 * count);
  const received = Array.from({ length: count }, (_, index) =>
    to.receive(region.subarray(64 * index, 64 * (index + 1))),
  );
  const sent = Array.from({ length: count }, (_, index) => from.send(Uint8Array.of(index)));
  await Promise.all(sent);
  const bytes = (await Promise.all(received)).map((completion) => completion.bytes[0] as number);
  await region.close();
  return bytes;
}

const inOrder = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

it('a completion that is held back comes later, and in its turn', async () => {
  const { active, a, b } = await connectedPair();
  injectFault(active, 'completionDelay', { count: 5, value: 200 });
  expect(await exchange(a, b, 20)).toEqual(inOrder(20));
});

const failures = completionStatuses
  .map((name, status) => ({ name, status, code: statusCode(status) }))
  .filter(({ name }) => name !== 'success');

describe('a send that completes with status', () => {
  it.each(failures)('$name rejects with $code and ends its connection', async (failure) => {
    const { active, passive, a, b } = await connectedPair();
    const region = await passive.allocate(64);
    const received = b.receive(region).catch(() => undefined);
    const idle = await active.allocate(64);
    const bystander = a.receive(idle);
    injectFault(active, 'completionStatus', { value: failure.status });
    const sent = a.send(one);
    const error = await rejection(sent, failure.code);
    expect(error.status).toBe(failure.name);
    const { by, error: reason } = await a.closed;
    expect({ by, code: reason?.code }).toEqual({ by: 'error', code: failure.code });
    expect(await codesOf([bystander, a.send(one)])).toEqual([failure.code, failure.code]);
    await b.closed;
    await received;
    await Promise.all([region.close(), idle.close()]);
    await expectServes(active);
    await expectServes(passive);
  });
});

it('an unsignalled send that fails ends the connection, and flush() and later calls say why', async () => {
  const { active, passive, a, b } = await connectedPair();
  const region = await passive.allocate(64);
  void b.receive(region).catch(() => {});
  injectFault(active, 'completionStatus', {
    value: completionStatuses.indexOf('remote-operation'),
  });
  await a.send(one, { signaled: false });
  const { error } = await a.closed;
  expect(error?.code).toBe('ERR_RDMA_WC_REM_OP');
  const other = await active.allocate(8);
  expect(await codesOf([a.flush(), a.send(one), a.receive(other)])).toEqual(
    Array(3).fill('ERR_RDMA_WC_REM_OP'),
  );
  await Promise.all([other.close(), region.close()]);
});

it('posts that the provider asks to repeat are repeated, in order', async () => {
  const { active, passive, a, b } = await connectedPair();
  injectFault(active, 'postAgain', { skip: 3, count: 40 });
  injectFault(passive, 'postAgain', { count: 17 });
  expect(await exchange(a, b, 60)).toEqual(inOrder(60));
  expect(active.stats().postsRepeated).toBeGreaterThanOrEqual(40);
});

describe('memory that cannot be had', () => {
  const kOutOfMemory = 12; // ENOMEM

  it.each(['allocate', 'register'] as const)('rejects %s(), and the next works', async (method) => {
    const engine = await testEngine();
    const make = (): Promise<{ close(): Promise<void> }> =>
      method === 'allocate'
        ? engine.allocate(8192)
        : engine.register(new Uint8Array(new SharedArrayBuffer(8192)));
    injectFault(engine, 'registrationFails', { value: kOutOfMemory });
    const error = await rejection(make(), 'ERR_RDMA_OUT_OF_RESOURCES');
    expect(error.systemError).toBe('ENOMEM');
    expect(engine.stats().regions).toBe(0);
    await (await make()).close();
  });

  it('rejects a send of a byte array, and the connection goes on', async () => {
    const { active, a, b } = await connectedPair();
    injectFault(active, 'registrationFails', { value: kOutOfMemory });
    await rejection(a.send(one), 'ERR_RDMA_OUT_OF_RESOURCES');
    const own = await active.allocate(8);
    const mixed = [own, new Uint8Array(3 << 20)];
    injectFault(active, 'registrationFails', { value: kOutOfMemory });
    await rejection(a.send(mixed), 'ERR_RDMA_OUT_OF_RESOURCES');
    await expectWorks(a, b);
    await own.close();
  });
});

describe.each(['adaptive', 'event'] as const)('with %s polling, a wake that is lost', (polling) => {
  // Each costs the backstop of 100 ms at most; the test's own limit is far above.
  it('on its way to the program delays, and hangs nothing', async () => {
    const { active, passive, a, b } = await connectedPair({ engine: { polling } });
    for (let round = 0; round < 3; round++) {
      injectFault(active, 'ownerWakeSwallowed');
      injectFault(passive, 'ownerWakeSwallowed');
      expect(await exchange(a, b, 3)).toEqual(inOrder(3));
    }
  });

  it('on its way to the poller delays, and hangs nothing', async () => {
    const { active, passive, a, b } = await connectedPair({ engine: { polling } });
    for (let round = 0; round < 3; round++) {
      injectFault(active, 'pollerWakeSwallowed');
      injectFault(passive, 'pollerWakeSwallowed');
      expect(await exchange(a, b, 3)).toEqual(inOrder(3));
    }
  });
});

describe('a step that stalls', () => {
  const kStallMicroseconds = 400_000;

  it('leaves time-outs and aborts working', async () => {
    const { active, a } = await connectedPair();
    const { steps } = active.stats().poller;
    injectFault(active, 'stepStalls', { value: kStallMicroseconds });
    const controller = new AbortController();
    const region = await active.allocate(64);
    const timedOut = a.send(one, { timeoutMs: 20 });
    const aborted = a.receive(region, { signal: controller.signal });
    const error = await rejection(timedOut, 'ERR_RDMA_TIMEOUT');
    controller.abort();
    await expect(aborted).rejects.toMatchObject({ code: 'ABORT_ERR' });
    // Both happened while the poller stood still.
    expect(active.stats().poller.steps - steps).toBeLessThanOrEqual(100_000);
    void a.destroy();
    expect(await error.settled).toMatchObject({ operation: 'send', status: 'flushed' });
    await region.close();
  });

  it('delays close(), which ends all the same', async () => {
    const { active, a } = await connectedPair();
    injectFault(active, 'stepStalls', { value: kStallMicroseconds });
    await a.close();
    expect(a.state).toBe('closed');
    await active.close();
  });
});

// The fields of a record, by the numbers of native/core/providers/shm/record_fault.h.
const mapped = { byteLength: 1 << 17 };
const staged = { byteLength: 5000 };
const damages = [
  { field: 'sequence', value: 0, ...mapped },
  { field: 'kind', value: 1, ...mapped },
  { field: 'flags', value: 2, ...mapped },
  { field: 'segment count', value: 3, ...mapped },
  { field: 'length', value: 4, ...mapped },
  { field: 'length', value: 4, ...staged },
  { field: 'place in the staging ring', value: 5, ...staged },
  { field: 'export', value: 6, ...mapped },
  { field: "export's generation", value: 7, ...mapped },
  { field: "segment's offset", value: 8, ...mapped },
  { field: "segment's length", value: 9, ...mapped },
];

describe('a record whose', () => {
  it.each(damages)(
    '$field ($byteLength B) is damaged ends the connection on both sides',
    async (damage) => {
      const { active, passive, a, b } = await connectedPair();
      const target = await passive.allocate(1 << 17);
      const source = await active.allocate(damage.byteLength);
      const received = [b.receive(target), b.receive(target)];
      injectFault(active, 'peerRecordCorrupted', { value: damage.value });
      const sent = [a.send(source), a.send(one)];
      expect(await codesOf(received)).toEqual(Array(2).fill('ERR_RDMA_PROTOCOL'));
      expect((await b.closed).error?.code).toBe('ERR_RDMA_PROTOCOL');
      expect(await codesOf(sent)).toEqual(Array(2).fill('ERR_RDMA_DISCONNECTED'));
      await a.closed;
      await expectServes(active);
      await expectServes(passive);
      await until(() => passive.stats().connections === 0);
      await Promise.all([source.close(), target.close()]);
    },
  );
});
