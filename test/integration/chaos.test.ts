// Random programs: whatever they do, in whatever order, and with the native core misbehaving, every
// promise settles, every message that a send says arrived did, and nothing is left.
import fc from 'fast-check';
import {
  type Connection,
  type Engine,
  type MemoryRegion,
  openEngine,
  type SendSource,
  type WorkCompletion,
} from 'queuepair';
import { describe, expect, it } from 'vitest';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectEngines } from '../helpers/pair.js';

// The built module, for it shares its state with the built package.
type Testing = typeof import('../../src/api/testing.js');
const built = new URL('../../dist/api/testing.js', import.meta.url).href;
const { injectFault } = (await import(built)) as Testing;

expectNothingLeft();

const kConnections = 3;
const kRegionBytes = 100_000;

const steps = {
  send: 12,
  sendBytes: 6,
  unsignalled: 3,
  receive: 16,
  batch: 3,
  abortSoon: 3,
  timeOut: 2,
  flush: 1,
  ready: 1,
  turn: 6,
  reopenRegion: 1,
  close: 0.4,
  destroy: 0.4,
  reconnect: 1,
  delay: 0.5,
  again: 0.5,
  ownerWake: 0.3,
  pollerWake: 0.3,
} as const;
type Kind = keyof typeof steps;

const step = fc.record({
  kind: fc.oneof(
    ...Object.entries(steps).map(([kind, weight]) => ({
      arbitrary: fc.constant(kind as Kind),
      weight: Math.ceil(weight * 10),
    })),
  ),
  which: fc.nat(kConnections - 1),
  side: fc.nat(1),
  byteLength: fc.oneof(fc.nat(200), fc.nat(kRegionBytes)),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Program {
  readonly #engines: readonly [Engine, Engine];
  readonly #pairs: [Connection, Connection][] = [];
  readonly #regions: MemoryRegion[] = [];
  readonly #work: Promise<unknown>[] = [];
  /** Messages are numbered, for each sending end. */
  readonly #sent = new Map<Connection, number>();
  readonly #received = new Map<Connection, number>();
  readonly codes: Set<string> = new Set();

  constructor(engines: readonly [Engine, Engine]) {
    this.#engines = engines;
  }

  async open(): Promise<void> {
    for (const engine of this.#engines) this.#regions.push(await engine.allocate(kRegionBytes));
    for (let index = 0; index < kConnections; index++) await this.#connect(index);
  }

  async #connect(index: number): Promise<void> {
    const depths = { sendDepth: 4, receiveDepth: 4, maxQueued: 40 };
    this.#pairs[index] = await connectEngines(this.#engines[0], this.#engines[1], {
      connect: depths,
      accept: depths,
    });
  }

  /** Remembered until the end; with an error's `settled`, which must resolve too. */
  #note(work: Promise<unknown>): void {
    const noted = work.catch(async (error: { code?: string; settled?: Promise<unknown> }) => {
      this.codes.add(error.code ?? String(error));
      await error.settled;
    });
    this.#work.push(noted);
  }

  #nextNumber(connection: Connection): number {
    const number = (this.#sent.get(connection) ?? 0) + 1;
    this.#sent.set(connection, number);
    return number;
  }

  /** Some are missing, because they were withdrawn or received by a batch; none comes out of turn. */
  async #inTurn(connection: Connection, receiving: Promise<WorkCompletion>): Promise<void> {
    const { immediate } = await receiving;
    if (immediate === undefined) return;
    expect(immediate).toBeGreaterThan(this.#received.get(connection) ?? 0);
    this.#received.set(connection, immediate);
  }

  async take({ kind, which, side, byteLength }: Step): Promise<void> {
    const connection = this.#pairs[which]?.[side] as Connection;
    const engine = this.#engines[side] as Engine;
    const region = this.#regions[side] as MemoryRegion;
    const slice = region.subarray(0, byteLength);
    const send = (source: SendSource, options?: object): void =>
      this.#note(connection.send(source, { ...options, immediate: this.#nextNumber(connection) }));
    const receive = (options?: object): void =>
      this.#note(this.#inTurn(connection, connection.receive(region, options)));
    const actions: Record<Kind, () => unknown> = {
      send: () => send(slice),
      sendBytes: () => send(new Uint8Array(byteLength)),
      unsignalled: () => send(slice, { signaled: false }),
      receive: () => receive(),
      batch: () =>
        this.#note(
          connection.post([
            { operation: 'receive', target: region },
            { operation: 'send', source: slice },
            { operation: 'receive', target: [region.subarray(0, 10), region.subarray(10)] },
          ]),
        ),
      abortSoon: () => {
        const controller = new AbortController();
        send(slice, { signal: controller.signal });
        receive({ signal: controller.signal });
        setImmediate(() => controller.abort());
      },
      timeOut: () => receive({ timeoutMs: 1 + (byteLength % 5) }),
      flush: () => this.#note(connection.flush()),
      ready: () => this.#note(connection.ready()),
      turn: () => new Promise((resolve) => setImmediate(resolve)),
      reopenRegion: async () => {
        this.#note(region.close());
        this.#regions[side] = await engine.allocate(kRegionBytes);
      },
      close: () => this.#note(connection.close({ timeoutMs: 20 })),
      destroy: () => this.#note(connection.destroy()),
      reconnect: async () => {
        if (connection.state !== 'connected') await this.#connect(which);
      },
      delay: () => injectFault(engine, 'completionDelay', { count: 3, value: 50 }),
      again: () => injectFault(engine, 'postAgain', { count: 5 }),
      ownerWake: () => injectFault(engine, 'ownerWakeSwallowed'),
      pollerWake: () => injectFault(engine, 'pollerWakeSwallowed'),
    };
    await actions[kind]();
  }

  async finish(): Promise<void> {
    await Promise.all(this.#engines.map((engine) => engine.close({ timeoutMs: 20 })));
    await Promise.all(this.#work);
    for (const engine of this.#engines) {
      expect(engine.stats()).toMatchObject({ operationsInFlight: 0, connections: 0, regions: 0 });
    }
    for (const connection of this.#pairs.flat()) await connection.closed;
  }
}

/** What may happen to a program that only closes, destroys, aborts and waits. */
const kExpected = [
  'ABORT_ERR',
  'ERR_RDMA_TIMEOUT',
  'ERR_RDMA_CLOSED',
  'ERR_RDMA_DISCONNECTED',
  'ERR_RDMA_QUEUE_FULL',
  'ERR_RDMA_NOT_REGISTERED',
];

describe.each(['adaptive', 'event', 'spin'] as const)('with %s polling', (polling) => {
  it('a random program settles all its promises and leaves nothing', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 50, maxLength: 400, size: 'max' }),
      async (program) => {
        const engines = await Promise.all([openEngine({ polling }), openEngine({ polling })]);
        const running = new Program(engines);
        try {
          await running.open();
          for (const each of program) await running.take(each);
        } finally {
          await running.finish();
        }
        expect(kExpected).toEqual(expect.arrayContaining([...running.codes]));
      },
    );
    await fc.assert(property, { numRuns: 8, endOnFailure: true, timeout: 15_000 });
  }, 60_000);
});
