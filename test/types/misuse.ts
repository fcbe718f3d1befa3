// Compiled like usage.ts: every line under a @ts-expect-error must not compile.

import * as queuepair from 'queuepair';
import { type Connection, type Engine, openEngine } from 'queuepair';

export async function misuseEngine(engine: Engine): Promise<void> {
  // @ts-expect-error: an unknown option
  await openEngine({ pollling: 'spin' });
  // @ts-expect-error: an unknown mode
  await openEngine({ polling: 'fast' });
  // @ts-expect-error: the port is missing
  await engine.connect({ host: '127.0.0.1' });
  // @ts-expect-error: a port is a number
  await engine.connect({ port: '7471' });
  // @ts-expect-error: times have their unit in their name
  await engine.connect({ port: 1, timeout: 5 });
  // @ts-expect-error: what peers may do has other names
  await engine.allocate(64, { access: ['remote'] });
  // @ts-expect-error: an ArrayBuffer's memory can go away
  await engine.register(new Uint8Array(64));
  // @ts-expect-error: so can a Buffer's
  await engine.register(Buffer.alloc(64));
  // @ts-expect-error: a view, not the buffer itself
  await engine.register(new SharedArrayBuffer(64));
  // @ts-expect-error: made by openEngine() only
  new queuepair.Engine();
  // @ts-expect-error: for this library's tests only
  queuepair.injectFault(engine, 'stepStalls');
}

export async function misuseConnection(connection: Connection, engine: Engine): Promise<void> {
  const region = await engine.allocate(64);
  // @ts-expect-error: not a string
  await connection.send('hello');
  // @ts-expect-error: only engine memory is received into
  await connection.receive(new Uint8Array(64));
  // @ts-expect-error: 32 bits are a number
  await connection.send(region, { immediate: 7n });
  // @ts-expect-error: the one without a signal gives no completion
  (await connection.send(region, { signaled: false })).byteLength;
  // @ts-expect-error: a send has a source
  await connection.post([{ operation: 'send', target: region }]);
  // @ts-expect-error: read-only
  connection.state = 'closed';
  // @ts-expect-error: read-only
  region.byteLength = 1;
  // @ts-expect-error: closing has one option
  await connection.close({ timeout: 5 });
  // @ts-expect-error: an observable of arrays
  connection.completions$.subscribe((completion: queuepair.WorkCompletion) => completion.status);
}
