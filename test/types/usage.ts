// Compiled against the packed declarations with TypeScript's default options, never run: what a program
// may write, and the types that it gets.
import {
  AbortError,
  type Access,
  type Address,
  type CloseReason,
  type CompletionStatus,
  type Connection,
  type ConnectionState,
  type Engine,
  type EngineStats,
  listProviders,
  type MemoryRegion,
  type MemorySlice,
  openEngine,
  type Peer,
  RdmaError,
  type StateChange,
  type WorkCompletion,
} from 'queuepair';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Fails to compile unless the two types are the same. */
export function same<A, B>(_: Equal<A, B>): void {}

export async function open(): Promise<void> {
  await using engine = await openEngine({
    provider: 'auto',
    polling: 'event',
    maxOperations: 1024,
  });
  same<typeof engine, Engine>(true);
  same<typeof engine.provider.reason, string>(true);
  same<Awaited<typeof engine.closed>, RdmaError | undefined>(true);
  const access: Access[] = ['remote-read', 'remote-write'];
  const region: MemoryRegion = await engine.allocate(64, { access });
  await engine.register(new Uint8Array(new SharedArrayBuffer(8)));
  await engine.register(new DataView(new SharedArrayBuffer(8)));
  const slice: MemorySlice = region.subarray(0, 8);
  const bytes: Uint8Array = slice.bytes;
  bytes.fill(1);
  const stats: EngineStats = engine.stats();
  const flushed: number | undefined = stats.completions.flushed;
  console.log(flushed, stats.posts.send);
  await region.close();
  await engine.destroy(new Error('enough'));
}

export async function serve(engine: Engine): Promise<void> {
  await using listener = await engine.listen({ port: 0, backlog: 1 });
  const address: Address = listener.address;
  console.log(address.host, address.port);
  for await (const request of listener.unref()) {
    const peer: Peer = request.peer;
    same<typeof peer.processId, number | undefined>(true);
    if (request.privateData.length === 0) await request.reject({ privateData: new Uint8Array(1) });
    else await talk(await request.accept({ sendDepth: 128 }));
  }
}

export async function talk(connection: Connection): Promise<void> {
  const { signal } = new AbortController();
  const region = await connection.engine.allocate(128);
  const sent = await connection.send(region.subarray(0, 8), { immediate: 7, signal });
  same<typeof sent, WorkCompletion>(true);
  await connection.send([Buffer.from('a'), region], { timeoutMs: 5 });
  const queued = connection.send(region, { signaled: false });
  same<typeof queued, Promise<void>>(true);
  const either = connection.send(region, { signaled: Math.random() < 0.5 });
  same<typeof either, Promise<WorkCompletion | undefined>>(true);
  await connection.flush();
  const { bytes, byteLength, immediate, status } = await connection.receive([region]);
  same<typeof byteLength, number>(true);
  same<typeof immediate, number | undefined>(true);
  same<typeof status, CompletionStatus>(true);
  console.log(bytes.toString());
  await connection.receive();
  const ends: WorkCompletion[] = await connection.post([
    { operation: 'receive', target: region },
    { operation: 'send', source: new Uint8Array(1), immediate: 1 },
  ]);
  console.log(ends.length);
  connection.completions$.subscribe((list: WorkCompletion[]) => console.log(list.length));
  connection.state$.subscribe(({ state, reason }: StateChange) => console.log(state, reason?.by));
  const state: ConnectionState = connection.state;
  const reason: CloseReason = await connection.closed;
  console.log(state, reason.error?.code);
}

export async function explain(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof AbortError) await error.settled;
    if (!(error instanceof RdmaError)) throw error;
    if (error.code === 'ERR_RDMA_TIMEOUT') await error.settled;
    console.log(
      error.operation,
      error.status,
      error.remoteAddress?.port,
      error.privateData?.length,
    );
  }
  for (const { name, available, reasons, adapters } of await listProviders()) {
    console.log(name, available, reasons.join(' '), adapters[0]?.limits.maxMessageBytes);
  }
}
