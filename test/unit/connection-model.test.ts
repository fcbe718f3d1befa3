// Random lives of a connection: whatever the program, the peer and native code do, in whatever order,
// every promise settles once, and nothing is left behind.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AbortError, RdmaError } from '../../src/engine/errors.js';
import { ControlKind } from '../../src/engine/layout.js';
import { Fault } from '../../src/engine/status.js';
import { NativeModel } from '../helpers/native-model.js';

interface Settled {
  readonly what: string;
  outcome: 'pending' | 'resolved' | 'rejected';
}

class Life {
  readonly model: NativeModel;
  readonly promises: Settled[] = [];
  readonly aborts: AbortController[] = [];

  constructor(submissionCapacity: number, depth: number, maxQueued: number) {
    this.model = new NativeModel({ submissionCapacity, depth, maxQueued });
    const request = { kind: ControlKind.connect, privateData: new Uint8Array(0) };
    this.watch('establish', this.model.connection.establish('connect', request, {}));
  }

  watch(what: string, promise: Promise<unknown>): void {
    const entry: Settled = { what, outcome: 'pending' };
    this.promises.push(entry);
    promise.then(
      () => this.#settle(entry, 'resolved'),
      (error: unknown) => {
        this.#settle(entry, 'rejected');
        expect(error instanceof RdmaError || error instanceof AbortError, String(error)).toBe(true);
        const { settled } = error as RdmaError;
        if (settled !== undefined) this.watch(`${what} settled`, settled);
      },
    );
  }

  #settle(entry: Settled, outcome: 'resolved' | 'rejected'): void {
    expect(entry.outcome).toBe('pending');
    entry.outcome = outcome;
  }

  abortable(): { signal: AbortSignal } {
    const controller = new AbortController();
    this.aborts.push(controller);
    return { signal: controller.signal };
  }
}

type Command = (life: Life, argument: number) => void;

const commands: Record<string, Command> = {
  step: ({ model }) => model.step(),
  establish: ({ model }) => model.establish(),
  send: (life) => life.watch('send', life.model.connection.send(life.model.region.subarray(0, 8))),
  sendAbortable: (life) =>
    life.watch('send', life.model.connection.send(life.model.region, life.abortable())),
  sendUnsignaled: (life) =>
    life.watch('send', life.model.connection.send(life.model.region, { signaled: false })),
  receive: (life) => life.watch('receive', life.model.connection.receive(life.model.region)),
  receiveAbortable: (life) =>
    life.watch('receive', life.model.connection.receive(life.model.region, life.abortable())),
  receiveNext: (life) => life.watch('receive next', life.model.connection.receive()),
  batch: (life) => {
    const { connection, region } = life.model;
    const requests = [
      { operation: 'send', source: region },
      { operation: 'receive', target: region },
      { operation: 'send', source: region },
    ] as const;
    life.watch('post', connection.post(requests, life.abortable()));
  },
  flush: (life) => life.watch('flush', life.model.connection.flush()),
  ready: (life) => life.watch('ready', life.model.connection.ready()),
  abort: ({ aborts }, argument) => aborts[argument % Math.max(1, aborts.length)]?.abort(),
  sent: ({ model }) => model.succeed(model.sends),
  received: ({ model }) => model.succeed(model.receives),
  sendFails: ({ model }, argument) => model.fail(model.sends, 6 + (argument % 15)),
  receiveFails: ({ model }, argument) => model.fail(model.receives, 1 + (argument % 4)),
  peerCloses: ({ model }) => model.end(Fault.peerClosed),
  peerDies: ({ model }) => model.end(Fault.peerLost),
  close: (life) => life.watch('close', life.model.connection.close(60_000)),
  destroy: ({ model }) => model.connection.destroy(),
  unref: ({ model }) => model.connection.unref(),
  ref: ({ model }) => model.connection.ref(),
};
const kinds = Object.keys(commands);
// Work is frequent, ends are rare: most lives are long.
const rare = new Set(['sendFails', 'receiveFails', 'peerCloses', 'peerDies', 'close', 'destroy']);
const command = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...kinds.filter((kind) => !rare.has(kind))) },
  { weight: 1, arbitrary: fc.constantFrom(...rare) },
);

async function microtasks(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Native code goes on until nothing is left of the connection. */
async function finish(life: Life): Promise<void> {
  for (let round = 0; round < 20 && life.model.gone === 0; round++) {
    life.model.step();
    life.model.end(Fault.peerLost);
    await microtasks();
    if (round === 5) life.model.connection.destroy();
  }
  await microtasks();
}

function expectNothingLeft(life: Life): void {
  const { model, promises } = life;
  const open = promises.filter(({ outcome }) => outcome === 'pending').map(({ what }) => what);
  expect(open).toEqual([]);
  expect(model.gone).toBe(1);
  expect(model.connection.state).toBe('closed');
  expect(model.pending.inFlight).toBe(0);
  expect(model.record.outstanding).toBe(0);
  expect(model.connection.receives.waiters).toBe(0);
  expect(model.alive).toBe(0);
}

test('every promise of a connection settles once, and nothing is left at its end', async () => {
  const lives = fc.asyncProperty(
    fc.constantFrom(2, 8, 64),
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 0, max: 6 }),
    fc.array(fc.tuple(command, fc.nat(1000), fc.boolean()), { maxLength: 80 }),
    async (submissionCapacity, depth, maxQueued, steps) => {
      const life = new Life(submissionCapacity, depth, maxQueued);
      for (const [kind, argument, pause] of steps) {
        commands[kind]?.(life, argument);
        if (pause) await microtasks();
      }
      await finish(life);
      expectNothingLeft(life);
    },
  );
  await fc.assert(lives, { numRuns: 3000 });
}, 30_000);
