// Connections that end although nobody closed them here.
import { describe, expect, it } from 'vitest';
import { runProgram } from '../helpers/child.js';
import { everyway } from '../helpers/ends.js';
import { codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectedPair, expectServes, testEngine } from '../helpers/pair.js';
import { connectPeer } from '../helpers/peer.js';

expectNothingLeft();

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const one = Uint8Array.of(1);
const modes = [...new Set(everyway.map(({ polling }) => polling))];

describe.each(modes)('a peer that is killed, with %s polling', (polling) => {
  it('while 64 operations wait in each direction settles them all, and the engine goes on', async () => {
    const engine = await testEngine({ polling });
    const { peer, connection, index } = await connectPeer(engine, { polling });
    const region = await engine.allocate(64 * 64);
    await peer.call('post', index, 'send', 64);
    // The first receives get what is there; then both directions hang.
    await Promise.all(times(64, () => connection.receive(region)));
    const sends = times(64, () => connection.send(one));
    const receives = times(64, () => connection.receive(region));
    const waiting = [connection.flush(), connection.post([{ operation: 'send', source: one }])];
    const codes = codesOf([...sends, ...receives, ...waiting]);
    await peer.kill();
    expect(await codes).toEqual(Array(130).fill('ERR_RDMA_DISCONNECTED'));
    const { by, error } = await connection.closed;
    expect({ by, code: error?.code }).toEqual({ by: 'error', code: 'ERR_RDMA_DISCONNECTED' });
    await rejection(connection.send(one), 'ERR_RDMA_DISCONNECTED');
    await region.close();
    await expectServes(engine);
  });

  it.each([64, 40_000])(
    'in the middle of %i B messages both ways settles everything',
    async (byteLength) => {
      const engine = await testEngine({ polling });
      const { peer, connection, index } = await connectPeer(engine, { polling });
      await peer.call('startStream', index, { depth: 64, byteLength });
      const region = await engine.allocate(byteLength);
      let killed: Promise<unknown> | undefined;
      const codes = new Set<unknown>();
      let received = 0;
      const receive = async (): Promise<void> => {
        for (;;) {
          await connection.receive(region);
          if (++received === 2000) killed = peer.kill();
        }
      };
      const send = async (): Promise<void> => {
        for (;;) await connection.send(region);
      };
      const note = (error: { code: string }): void => {
        codes.add(error.code);
      };
      await Promise.all(times(64, () => [receive().catch(note), send().catch(note)]).flat());
      await killed;
      expect([...codes]).toEqual(['ERR_RDMA_DISCONNECTED']);
      await region.close();
      await expectServes(engine);
    },
  );
});

it('a disconnect with operations that nobody awaits ends no process', async () => {
  const engine = await testEngine();
  const { peer, connection } = await connectPeer(engine);
  const region = await engine.allocate(64);
  // The test runner fails on an unhandled rejection.
  for (let count = 0; count < 64; count++) {
    void connection.send(one);
    void connection.receive(region);
  }
  void connection.post([{ operation: 'send', source: one }]);
  void connection.flush();
  await peer.kill();
  await connection.closed;
  // Nor do those that come too late.
  void connection.send(one);
  void connection.receive(region);
  void connection.post([{ operation: 'receive', target: region }]);
  void connection.flush();
  await expectServes(engine);
});

describe('a receive that is shorter than the message', () => {
  it.each([
    { sent: 3, room: 2 },
    { sent: 1, room: 0 },
    { sent: 5_000, room: 4_999 },
    { sent: 100_000, room: 99_999 },
    { sent: 1 << 20, room: 64 },
  ])(
    '($sent B into $room B) fails both and ends both, and the engines go on',
    async ({ sent, room }) => {
      const { a, b, active, passive } = await connectedPair();
      const source = await active.allocate(sent);
      const target = await passive.allocate(room + 64);
      target.bytes.fill(0xa5);
      const receives = [b.receive(target.subarray(0, room)), b.receive(target)];
      const sends = [a.send(source), a.send(source)];
      const [received, later] = await codesOf(receives);
      expect(received).toBe('ERR_RDMA_WC_LOC_LEN');
      expect(later).toBe('ERR_RDMA_WC_LOC_LEN');
      expect(await codesOf(sends)).toEqual(Array(2).fill('ERR_RDMA_WC_REM_INV_REQ'));
      const error = await rejection(sends[0] as Promise<unknown>, 'ERR_RDMA_WC_REM_INV_REQ');
      expect(error).toMatchObject({ operation: 'send', status: 'remote-invalid-request' });
      expect(target.bytes.subarray(room).every((byte) => byte === 0xa5)).toBe(true);
      for (const end of [a, b]) expect((await end.closed).by).toBe('error');
      await Promise.all([expectServes(active), expectServes(passive)]);
    },
  );
});

it('100 rounds of open, connect, transfer and close leave nothing behind', async () => {
  const { code, stdout, stderr } = await runProgram('rounds.mjs', {
    // Neither V8's young generation nor the C library's arenas, one for each new thread at first,
    // may grow: that would be all that is measured.
    execArgv: ['--expose-gc', '--max-semi-space-size=1'],
    env: { MALLOC_ARENA_MAX: '1' },
    timeoutMs: 90_000,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { early, late } = JSON.parse(stdout);
  expect(late.rss - early.rss).toBeLessThan(8 << 20);
  expect({ ...late, rss: 0 }).toEqual({ ...early, rss: 0 });
}, 100_000);
