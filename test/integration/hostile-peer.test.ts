// Processes of the same user that speak the protocol badly, or not at all. They lose their connection;
// the engine serves everybody else meanwhile, and keeps nothing of theirs.
import type { Connection, ConnectionRequest, Engine, Listener } from 'queuepair';
import { openEngine } from 'queuepair';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PythonProgram } from '../helpers/child.js';
import { codesOf, rejection } from '../helpers/errors.js';
import { countDescriptors, expectNothingLeft } from '../helpers/leftovers.js';
import { expectWorks, nextRequest, until } from '../helpers/pair.js';

expectNothingLeft();

let engine: Engine;
let client: Engine;
let listener: Listener;
let idleDescriptors = 0;

beforeAll(async () => {
  engine = await openEngine();
  client = await openEngine();
  listener = await engine.listen();
  await serveClient();
  idleDescriptors = countDescriptors();
});
afterAll(async () => {
  await client.close();
  await engine.close();
});
afterEach(async () => {
  // What the attackers sent went with them.
  await until(() => engine.stats().connections === 0 && client.stats().connections === 0);
  expect(countDescriptors()).toBe(idleDescriptors);
});

/** A good client connects, exchanges messages and closes. */
async function serveClient(): Promise<void> {
  const [connection, accepted] = await Promise.all([
    client.connect(listener.address),
    acceptClient(),
  ]);
  await expectWorks(connection, accepted);
  await connection.close();
  await accepted.close();
}

/** The next request that is not withdrawn meanwhile. */
async function acceptClient(): Promise<Connection> {
  for (;;) {
    const request = await nextRequest(listener);
    // The attackers are all of another process.
    if (request.peer.processId === process.pid) return request.accept();
    await dismiss(request);
  }
}

async function dismiss(request: ConnectionRequest): Promise<void> {
  const [code] = await codesOf([request.accept({ timeoutMs: 1000 }).then((it) => it.destroy())]);
  expect([undefined, 'ERR_RDMA_DISCONNECTED', 'ERR_RDMA_TIMEOUT']).toContain(code);
}

/** A program that serves a whole `describe`, and has nothing to complain of. */
function program(name: string, args: () => string[] = () => []): () => PythonProgram {
  let running: PythonProgram;
  beforeAll(() => {
    running = new PythonProgram(`hostile/${name}.py`, args());
    idleDescriptors = countDescriptors();
  });
  afterAll(async () => {
    expect(await running.end()).toMatchObject({ code: 0, stderr: '' });
    idleDescriptors = countDescriptors();
  });
  return () => running;
}

const port = (): string => String(listener.address.port);

describe('a listener is not disturbed by', () => {
  const attacker = program('listener_attacks', () => [port()]);

  it.each([
    ['garbage', 'garbage'],
    ['malformed requests', 'malformed'],
    ['impossible sizes', 'geometry'],
    ['descriptors that are no sealed memory', 'descriptors'],
    ['one that connects and says nothing', 'silence'],
    ['requests that are withdrawn in the middle', 'half'],
    ['300 silent connections', 'flood'],
  ])('%s', async (_what, attack) => {
    // While it is at it, and when it has done all that it can.
    await Promise.all([attacker().ask(attack), serveClient()]);
    await serveClient();
    await attacker().ask('release');
    await serveClient();
  });

  // The last: it is another user from then on.
  it.runIf(process.geteuid?.() === 0)("another user's process", async () => {
    await attacker().ask('stranger');
    await serveClient();
  });
});

const kAttacks = [
  ...['out_of_turn', 'ready_again', 'noise', 'oversized'],
  ...['export_unsealed', 'export_too_short', 'export_nothing', 'export_far', 'export_huge'],
  ...['export_twice', 'unexport_unknown', 'ring_overfilled', 'staging_overfilled'],
  ...['record_empty', 'record_unknown', 'record_too_long', 'record_endless'],
  ...['record_of_no_export', 'record_of_far_export', 'heads_ahead'],
];

describe('a connection', () => {
  const attacker = program('peer_attacks', () => [port()]);

  const accept = async (): Promise<Connection> => {
    const accepting = nextRequest(listener).then((request) => request.accept());
    const [connection] = await Promise.all([accepting, attacker().ask('establish')]);
    return connection;
  };

  it.each(kAttacks)('whose peer attacks (%s) ends with ERR_RDMA_PROTOCOL', async (attack) => {
    const connection = await accept();
    const region = await engine.allocate(4096);
    const work = codesOf([
      connection.receive(region),
      connection.receive(region.subarray(0, 1)),
      connection.send(region),
      connection.send(Uint8Array.of(1)),
    ]);
    await attacker().ask(attack);
    const { by, error } = await connection.closed;
    expect({ by, code: error?.code }).toEqual({ by: 'error', code: 'ERR_RDMA_PROTOCOL' });
    expect(await work).toEqual(Array(4).fill('ERR_RDMA_PROTOCOL'));
    await region.close();
    await attacker().ask('sees_end');
    await serveClient();
  });

  it.each(['doorbells', 'always_armed'])('whose peer only annoys (%s) goes on', async (attack) => {
    const connection = await accept();
    await attacker().ask(attack);
    const sends = codesOf(Array.from({ length: 50 }, () => connection.send(Uint8Array.of(1))));
    await serveClient();
    expect(connection.state).toBe('connected');
    await attacker().ask('hang_up');
    expect(await sends).toEqual(Array(50).fill('ERR_RDMA_DISCONNECTED'));
  });
});

describe('connect() to a listener that', () => {
  const bad = program('bad_listener');
  let badPort = 0;
  beforeAll(async () => {
    badPort = Number(await bad().line());
  });

  it.each([
    ['hangs_up', 'ERR_RDMA_DISCONNECTED'],
    ['noise', 'ERR_RDMA_PROTOCOL'],
    ['short', 'ERR_RDMA_PROTOCOL'],
    ['wrong_kind', 'ERR_RDMA_PROTOCOL'],
    ['doorbell_only', 'ERR_RDMA_PROTOCOL'],
    ['unframed', 'ERR_RDMA_PROTOCOL'],
    ['rejects_oddly', 'ERR_RDMA_REJECTED'],
  ])('answers badly (%s) rejects with %s', async (behaviour, code) => {
    const served = bad().ask(behaviour);
    await rejection(client.connect({ port: badPort }), code);
    await served;
    await serveClient();
  });

  it.each(['accepts_then_noise', 'accepts_twice'])(
    'misbehaves after that (%s) ends',
    async (how) => {
      const served = bad().ask(how);
      // Whether the connection stands for a moment is a matter of time.
      const outcome = await client.connect({ port: badPort }).then(
        async (connection) => (await connection.closed).error?.code,
        (error: { code: string }) => error.code,
      );
      expect(outcome).toBe('ERR_RDMA_PROTOCOL');
      await served;
    },
  );

  it('never answers ends with its timeout', async () => {
    // One that accepts and is silent, then one that does not even accept.
    const served = bad().ask('silence');
    await rejection(client.connect({ port: badPort, timeoutMs: 100 }), 'ERR_RDMA_TIMEOUT');
    await served;
    await rejection(client.connect({ port: badPort, timeoutMs: 100 }), 'ERR_RDMA_TIMEOUT');
    await serveClient();
  });
});
