// Engines and connections for one test: whatever it opens is closed when it is over.
import {
  type AcceptOptions,
  type Connection,
  type ConnectionRequest,
  type ConnectOptions,
  type Engine,
  type EngineOptions,
  type Listener,
  type ListenOptions,
  openEngine,
} from 'queuepair';
import { onTestFinished } from 'vitest';

export async function testEngine(options?: EngineOptions): Promise<Engine> {
  const engine = await openEngine(options);
  onTestFinished(() => engine.destroy());
  return engine;
}

export interface ConnectPairOptions {
  readonly connect?: Partial<ConnectOptions>;
  readonly accept?: AcceptOptions;
}

/** The next request; fails when the listener is closed instead. */
export async function nextRequest(listener: Listener): Promise<ConnectionRequest> {
  const next = await listener[Symbol.asyncIterator]().next();
  if (next.done) throw new Error('The listener was closed before a request came.');
  return next.value;
}

/** The connecting end, and the accepting end. */
export async function connectEngines(
  active: Engine,
  passive: Engine,
  { connect, accept }: ConnectPairOptions = {},
): Promise<[Connection, Connection]> {
  const listener = await passive.listen();
  const accepted = nextRequest(listener).then((request) => request.accept(accept));
  const { port } = listener.address;
  const ends = await Promise.all([active.connect({ ...connect, port }), accepted]);
  await listener.close();
  return ends;
}

export interface PairOptions extends ConnectPairOptions {
  readonly engine?: EngineOptions;
  /** Both ends on one engine, or each on its own (default). */
  readonly engines?: 1 | 2;
}

export interface Pair {
  readonly active: Engine;
  readonly passive: Engine;
  /** The end that connected, on `active`. */
  readonly a: Connection;
  /** The end that accepted, on `passive`. */
  readonly b: Connection;
}

export async function connectedPair(options: PairOptions = {}): Promise<Pair> {
  const active = await testEngine(options.engine);
  const passive = options.engines === 1 ? active : await testEngine(options.engine);
  const [a, b] = await connectEngines(active, passive, options);
  return { active, passive, a, b };
}

/** Listens until the test is over, and accepts everybody. */
export async function acceptAll(
  engine: Engine,
  options: ListenOptions & { readonly accept?: AcceptOptions } = {},
): Promise<{ listener: Listener; port: number; accepted: Connection[] }> {
  const { accept, ...listen } = options;
  const listener = await engine.listen(listen);
  const accepted: Connection[] = [];
  void (async () => {
    for await (const request of listener) {
      request.accept(accept).then(
        (connection) => accepted.push(connection),
        () => {}, // the peer left meanwhile
      );
    }
  })();
  return { listener, port: listener.address.port, accepted };
}

/** A message of 4 bytes each way: the engines of both still work. */
export async function expectWorks(a: Connection, b: Connection): Promise<void> {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const region = await to.engine.allocate(64);
    const [{ bytes }] = await Promise.all([
      to.receive(region),
      from.send(Uint8Array.of(1, 2, 3, 4)),
    ]);
    if (bytes.join() !== '1,2,3,4') throw new Error(`Received ${bytes.join()}`);
    await region.close();
  }
}

/** The engine still listens, connects, accepts, sends and receives. */
export async function expectServes(engine: Engine): Promise<void> {
  const [a, b] = await connectEngines(engine, engine);
  await expectWorks(a, b);
  await Promise.all([a.close(), b.close()]);
}

/** Turns of the event loop until something is so that only a snapshot tells. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}

/** Keeps this thread busy, as a long computation does, until other threads have come so far. */
export function blockUntil(isSo: () => boolean): void {
  const deadline = performance.now() + 10_000;
  while (!isSo()) if (performance.now() > deadline) throw new Error('It did not come so far.');
}
