// Whatever a program passes, it gets a coded rejection that names the argument, and the engine goes on.
import type { Connection, Engine, Listener, MemoryRegion } from 'queuepair';
import { openEngine } from 'queuepair';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectEngines, expectWorks, nextRequest } from '../helpers/pair.js';

expectNothingLeft();

const noPrototype: unknown = Object.create(null);
const notNumbers: readonly unknown[] = [
  '7',
  null,
  7n,
  true,
  [],
  {},
  noPrototype,
  Symbol('7'),
  () => 7,
];
const badNumbers: readonly unknown[] = [NaN, -1, 1.5, 2 ** 53, Infinity, -Infinity, ...notNumbers];
const notObjects: readonly unknown[] = [null, 'x', 7, 7n, true, [], Symbol('x'), () => ({})];
const hole = new Array<unknown>(1);

let engine: Engine;
let other: Engine;
let a: Connection;
let b: Connection;
let region: MemoryRegion;
let listener: Listener;
const one = Uint8Array.of(1);

beforeAll(async () => {
  engine = await openEngine();
  other = await openEngine();
  [a, b] = await connectEngines(engine, other);
  region = await engine.allocate(4096);
  listener = await engine.listen();
});
afterEach(() => expectWorks(a, b));
afterAll(() => Promise.all([engine.close(), other.close()]));

type Call = (value: unknown) => Promise<unknown>;
// Programs in JavaScript pass anything.
const any = (value: unknown): never => value as never;

/** Never throws, rejects with that code, and says what was wrong. */
async function expectRefused(
  call: Call,
  value: unknown,
  name: string,
  code = 'ERR_RDMA_INVALID_ARG',
) {
  let promise: Promise<unknown>;
  try {
    promise = call(value);
  } catch (error) {
    throw new Error(`It threw instead of rejecting: ${String(error)}`);
  }
  const error = await rejection(promise, code);
  expect(error.message).toContain(name);
}

/** A request is answered wrongly, and then, to prove that it still can be, with a reject. */
async function answer(
  call: (request: Awaited<ReturnType<typeof nextRequest>>) => Promise<unknown>,
) {
  const connecting = other.connect({ port: listener.address.port }).catch(() => {});
  const request = await nextRequest(listener);
  try {
    return await call(request);
  } finally {
    await request.reject();
    await connecting;
  }
}

const withOption = (name: string): Record<string, Call> => ({
  'openEngine()': (value) => openEngine(any({ [name]: value })),
  'listen()': (value) => engine.listen(any({ [name]: value })),
  'connect()': (value) => engine.connect(any({ port: 1, [name]: value })),
  'accept()': (value) => answer((request) => request.accept(any({ [name]: value }))),
  'reject()': (value) => answer((request) => request.reject(any({ [name]: value }))),
  'allocate()': (value) => engine.allocate(64, any({ [name]: value })),
  'register()': (value) => engine.register(region.bytes, any({ [name]: value })),
  'send()': (value) => a.send(one, any({ [name]: value })),
  'receive()': (value) => a.receive(region, any({ [name]: value })),
  'post()': (value) => a.post([{ operation: 'send', source: one }], any({ [name]: value })),
  'connection.close()': (value) => a.close(any({ [name]: value })),
  'engine.close()': (value) => engine.close(any({ [name]: value })),
});

describe('a number out of range, or none at all', () => {
  const options: Record<string, readonly string[]> = {
    spinMicroseconds: ['openEngine()'],
    maxOperations: ['openEngine()'],
    port: ['listen()', 'connect()'],
    backlog: ['listen()'],
    sendDepth: ['connect()', 'accept()'],
    receiveDepth: ['connect()', 'accept()'],
    maxQueued: ['connect()', 'accept()'],
    timeoutMs: [
      ...['connect()', 'accept()', 'send()', 'receive()', 'post()'],
      ...['connection.close()', 'engine.close()'],
    ],
    immediate: ['send()'],
  };
  const rows = Object.entries(options).flatMap(([name, methods]) =>
    methods.map((method) => ({ name, method, call: withOption(name)[method] as Call })),
  );
  it.each(rows)('as $name of $method', async ({ name, method, call }) => {
    // A port of `null` is none given.
    const values = badNumbers.filter((value) => !(method === 'listen()' && value === null));
    for (const value of values) await expectRefused(call, value, name);
  });

  it('as zero or just above the limit', async () => {
    const rows: [string, string, number][] = [
      ['port', 'connect()', 0],
      ['port', 'connect()', 65_536],
      ['port', 'listen()', 65_536],
      ['backlog', 'listen()', 0],
      ['backlog', 'listen()', 4097],
      ['sendDepth', 'connect()', 0],
      ['sendDepth', 'connect()', 16_385],
      ['receiveDepth', 'accept()', 0],
      ['maxQueued', 'connect()', 2 ** 20 + 1],
      ['maxOperations', 'openEngine()', 300],
      ['maxOperations', 'openEngine()', 128],
      ['spinMicroseconds', 'openEngine()', 1_000_001],
      ['immediate', 'send()', 2 ** 32],
      ['timeoutMs', 'receive()', 0],
      ['timeoutMs', 'receive()', 2 ** 31],
    ];
    for (const [name, method, value] of rows) {
      await expectRefused(withOption(name)[method] as Call, value, name);
    }
  });

  it('as the length of allocate()', async () => {
    for (const value of [...badNumbers, 0, undefined, 2 ** 40 + 1]) {
      await expectRefused((length) => engine.allocate(any(length)), value, 'byteLength');
    }
  });

  it('as an immediate in post()', async () => {
    for (const immediate of [...badNumbers, 2 ** 32]) {
      const call: Call = (value) =>
        a.post([{ operation: 'send', source: one, immediate: any(value) }]);
      await expectRefused(call, immediate, 'immediate');
    }
  });

  it('as an offset of subarray(), which is no promise and throws', () => {
    const attempt = (work: () => unknown): string | undefined => {
      try {
        work();
      } catch (error) {
        return (error as { code?: string }).code;
      }
      return undefined;
    };
    for (const value of badNumbers) {
      expect(attempt(() => region.subarray(any(value)))).toBe('ERR_RDMA_INVALID_ARG');
      expect(attempt(() => region.subarray(0, any(value)))).toBe('ERR_RDMA_INVALID_ARG');
    }
    for (const [start, end] of [
      [2, 1],
      [0, 4097],
      [4097, 4097],
      [4096, 4097],
    ] as const) {
      expect(attempt(() => region.subarray(start, end))).toBe('ERR_RDMA_OUT_OF_BOUNDS');
    }
  });
});

describe('an option of a wrong type', () => {
  const rows: [name: string, method: string, values: readonly unknown[]][] = [
    ['provider', 'openEngine()', [null, 7, {}, Symbol('x'), 'carrier-pigeon', '']],
    ['polling', 'openEngine()', [null, 7, 'never', '', Symbol('x'), 'toString']],
    ['host', 'listen()', [null, 7, '', {}, noPrototype, Symbol('x'), 'x'.repeat(256)]],
    ['host', 'connect()', [null, 7, '', {}, noPrototype, Symbol('x'), 'x'.repeat(256)]],
    ['privateDataFormat', 'listen()', [null, 7, 'json', Symbol('x')]],
    ['privateDataFormat', 'connect()', [null, 7, 'json', Symbol('x')]],
    ['privateDataLimit', 'connect()', [null, 7, 'none', Symbol('x')]],
    ['privateData', 'connect()', [null, 7, 'text', [], {}, new ArrayBuffer(4), Symbol('x')]],
    ['privateData', 'accept()', [null, 'text', new Uint16Array(2), new Uint8Array(193)]],
    [
      'privateData',
      'reject()',
      [null, 'text', new DataView(new ArrayBuffer(2)), new Uint8Array(145)],
    ],
    ['receives', 'connect()', [null, 7, 'text', {}, Symbol('x'), [null], [one], hole, [[]]]],
    ['signal', 'connect()', [null, 7, {}, new EventTarget(), Symbol('x')]],
    ['signal', 'accept()', [null, 7, {}, new EventTarget()]],
    ['signal', 'send()', [null, 7, {}, new EventTarget(), Symbol('x')]],
    ['signal', 'receive()', [null, 7, {}, new EventTarget()]],
    ['signal', 'post()', [null, 7, {}, new EventTarget()]],
    ['signaled', 'send()', [null, 0, 'false', {}, Symbol('x')]],
    ['access', 'allocate()', [null, 7, 'remote-read', ['read'], [7], [Symbol('x')], [null], {}]],
    ['access', 'register()', [null, 7, 'remote-read', ['toString'], [{}], [noPrototype]]],
  ];
  it.each(rows)('%s of %s', async (name, method, values) => {
    for (const value of values) await expectRefused(withOption(name)[method] as Call, value, name);
  });
});

describe('options', () => {
  it.each(Object.keys(withOption('')))('of %s with an unknown key', async (method) => {
    for (const name of ['tiemoutMs', '__proto__x', 'constructor', '']) {
      await expectRefused(withOption(name)[method] as Call, 1, `unknown option '${name}'`);
    }
  });

  const calls: Record<string, Call> = {
    'openEngine()': (value) => openEngine(any(value)),
    'listen()': (value) => engine.listen(any(value)),
    'connect()': (value) => engine.connect(any(value)),
    'accept()': (value) => answer((request) => request.accept(any(value))),
    'reject()': (value) => answer((request) => request.reject(any(value))),
    'allocate()': (value) => engine.allocate(64, any(value)),
    'register()': (value) => engine.register(region.bytes, any(value)),
    'send()': (value) => a.send(one, any(value)),
    'receive()': (value) => a.receive(region, any(value)),
    'post()': (value) => a.post([{ operation: 'send', source: one }], any(value)),
    'connection.close()': (value) => a.close(any(value)),
    'engine.close()': (value) => engine.close(any(value)),
  };
  it.each(Object.entries(calls))('of %s that are no object', async (_method, call) => {
    for (const value of notObjects) await expectRefused(call, value, 'options');
  });

  it.each(Object.entries(calls))(
    'of %s whose getters throw reject with what they throw',
    async (_method, call) => {
      const thrown = new Error('from the program');
      const proxy = new Proxy(
        {},
        {
          ownKeys() {
            throw thrown;
          },
          get() {
            throw thrown;
          },
        },
      );
      await expect(call(proxy)).rejects.toBe(thrown);
    },
  );
});
