// Memory that operations cannot have: each is refused with a coded rejection, and the engine goes on.
import { type Connection, type Engine, type MemoryRegion, openEngine } from 'queuepair';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectEngines, expectWorks } from '../helpers/pair.js';

expectNothingLeft();

let engine: Engine;
let other: Engine;
let a: Connection;
let b: Connection;
let region: MemoryRegion;
let closed: MemoryRegion;
let foreign: MemoryRegion;

beforeAll(async () => {
  engine = await openEngine();
  other = await openEngine();
  [a, b] = await connectEngines(engine, other);
  region = await engine.allocate(4096);
  closed = await engine.allocate(4096);
  await closed.close();
  foreign = await other.allocate(4096);
});
afterEach(() => expectWorks(a, b));
afterAll(() => Promise.all([engine.close(), other.close()]));

// Programs in JavaScript pass anything.
const any = (value: unknown): never => value as never;
const one = Uint8Array.of(1);

const uses: Record<string, (memory: unknown) => Promise<unknown>> = {
  send: (memory) => a.send(any(memory)),
  receive: (memory) => a.receive(any(memory)),
  'post of a send': (memory) => a.post([{ operation: 'send', source: any(memory) }]),
  'post of a receive': (memory) => a.post([{ operation: 'receive', target: any(memory) }]),
};

describe.each(Object.entries(uses))('%s', (name, use) => {
  const operation = name.split(' ')[0] as string;

  it('takes no slice of a closed region', async () => {
    for (const memory of [closed, closed.subarray(0, 1), [region, closed]]) {
      const { message } = await rejection(use(memory), 'ERR_RDMA_NOT_REGISTERED');
      expect(message).toContain(operation);
    }
  });

  it("takes no slice of another engine's region", async () => {
    for (const memory of [foreign, foreign.subarray(1, 1), [region, foreign]]) {
      const { message } = await rejection(use(memory), 'ERR_RDMA_INVALID_ARG');
      expect(message).toContain("another engine's region");
    }
  });

  it('takes one to four segments', async () => {
    for (const memory of [[], Array(5).fill(region), Array(1000).fill(region)]) {
      const { message } = await rejection(use(memory), 'ERR_RDMA_INVALID_ARG');
      expect(message).toContain('segments');
    }
  });

  it('takes nothing that is no memory', async () => {
    const nothing = [
      null,
      7,
      7n,
      'text',
      true,
      {},
      Symbol('x'),
      () => region,
      new Map(),
      [[region]],
    ];
    const wrongKinds = [new ArrayBuffer(8), new Uint16Array(4), new DataView(new ArrayBuffer(8))];
    const holes = [new Array(1), [region, undefined], [null], new Proxy({}, {})];
    for (const memory of [...nothing, ...wrongKinds, ...holes, new SharedArrayBuffer(8)]) {
      const { message } = await rejection(use(memory), 'ERR_RDMA_INVALID_ARG');
      expect(message).toContain(operation);
    }
  });

  it('is not misled by what only looks like a slice, or throws when it is looked at', async () => {
    const thrown = new Error('from the program');
    const throwing = new Proxy([region], {
      get() {
        throw thrown;
      },
    });
    await expect(use(throwing)).rejects.toBe(thrown);
    await expect(use(Object.create(Object.getPrototypeOf(region)))).rejects.toThrow();
    await expect(use({ __proto__: region, record: undefined })).rejects.toThrow();
  });
});

it('send of nothing rejects, and so does a receive of byte arrays', async () => {
  await rejection(a.send(any(undefined)), 'ERR_RDMA_INVALID_ARG');
  for (const memory of [one, Buffer.alloc(8), [region, one]]) {
    await rejection(a.receive(any(memory)), 'ERR_RDMA_INVALID_ARG');
  }
});

it('post takes an array of sends and receives', async () => {
  const send = { operation: 'send', source: one };
  const wrong = [
    ...[undefined, null, 7, 'text', {}, send, new Set([send]), [], [null], [7], new Array(1)],
    ...[
      [{}],
      [{ operation: 'read' }],
      [{ ...send, operation: 'toString' }],
      [send, { source: one }],
    ],
  ];
  for (const requests of wrong) {
    const { message } = await rejection(a.post(any(requests)), 'ERR_RDMA_INVALID_ARG');
    expect(message).toContain('post');
  }
});

it.each([
  ['an ArrayBuffer', new ArrayBuffer(64), 'ERR_RDMA_INVALID_ARG'],
  ['a Uint8Array', new Uint8Array(64), 'ERR_RDMA_INVALID_ARG'],
  ['a Buffer', Buffer.alloc(64), 'ERR_RDMA_INVALID_ARG'],
  ['a pooled Buffer', Buffer.from('text'), 'ERR_RDMA_INVALID_ARG'],
  ['a SharedArrayBuffer itself', new SharedArrayBuffer(64), 'ERR_RDMA_INVALID_ARG'],
  ['no byte', new Uint8Array(new SharedArrayBuffer(64), 8, 0), 'ERR_RDMA_INVALID_ARG'],
  ['growable memory', growable(), 'ERR_RDMA_RESIZABLE_BUFFER'],
  ['nothing', undefined, 'ERR_RDMA_INVALID_ARG'],
  ['null', null, 'ERR_RDMA_INVALID_ARG'],
  ['a region', {}, 'ERR_RDMA_INVALID_ARG'],
  ['a symbol', Symbol('x'), 'ERR_RDMA_INVALID_ARG'],
  ['a proxy of a view', new Proxy(new Uint8Array(8), {}), 'ERR_RDMA_INVALID_ARG'],
])('register refuses %s and offers allocate()', async (_what, memory, code) => {
  const { message } = await rejection(engine.register(any(memory)), code);
  expect(message).toMatch(/^register/);
  expect(message).toContain('engine.allocate(');
});

it('a view that lies about itself registers what it really is', async () => {
  const bytes = new Uint8Array(new SharedArrayBuffer(64), 16, 8);
  for (const name of ['byteLength', 'byteOffset', 'length']) {
    Object.defineProperty(bytes, name, { value: 1 << 30 });
  }
  Object.defineProperty(bytes, 'buffer', { value: new SharedArrayBuffer(1 << 10) });
  const made = await engine.register(bytes).catch(() => undefined);
  if (made !== undefined) expect(made.byteLength).toBeLessThanOrEqual(64);
});

it('slices that lie about themselves are refused before they are posted, or end their connection', async () => {
  const [c, d] = await connectEngines(engine, other);
  const liar = region.subarray(0, 8);
  Object.defineProperty(liar, 'byteLength', { value: 1 << 30 });
  await expect(c.send(liar)).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_RDMA_/) });
  await Promise.all([c.destroy(), d.destroy()]);
});

function growable(): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(64, { maxByteLength: 128 }));
}
