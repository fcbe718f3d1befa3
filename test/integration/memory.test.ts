// Regions: what they are made of, who may use them, and their end.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { codesOf, rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import { connectedPair, expectWorks, testEngine, until } from '../helpers/pair.js';

expectNothingLeft();

const one = Uint8Array.of(1);
const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
const shared = (byteLength: number): Uint8Array<SharedArrayBuffer> =>
  new Uint8Array(new SharedArrayBuffer(byteLength));

describe('allocate()', () => {
  it.each([1, 4095, 4096, 4097, 256 * 1024 + 1, 32 << 20])(
    'makes %i zero bytes',
    async (length) => {
      const engine = await testEngine();
      const region = await engine.allocate(length);
      expect([region.byteLength, region.bytes.byteLength, region.access]).toEqual([
        length,
        length,
        [],
      ]);
      expect(isZero(region.bytes)).toBe(true);
      region.bytes.fill(1);
      const other = await engine.allocate(length);
      expect(isZero(other.bytes)).toBe(true);
    },
  );

  it('gives memory that other threads of the process share', async () => {
    const { a, b, active, passive } = await connectedPair();
    const [source, target] = [await active.allocate(64), await passive.allocate(64)];
    const worker = new Worker('require("worker_threads").workerData.fill(6)', {
      eval: true,
      workerData: source.bytes,
    });
    await once(worker, 'exit');
    await Promise.all([a.send(source), b.receive(target)]);
    expect(target.bytes).toEqual(new Uint8Array(shared(64)).fill(6));
  });

  it('of more memory than there is rejects, and the engine goes on', async () => {
    const { a, b, active } = await connectedPair();
    await rejection(active.allocate(2 ** 40), 'ERR_RDMA_OUT_OF_RESOURCES');
    expect(active.stats().regions).toBe(0);
    await expectWorks(a, b);
  });

  it('keeps what access was asked for', async () => {
    const engine = await testEngine();
    const region = await engine.allocate(64, { access: ['remote-read', 'remote-write'] });
    expect(region.access).toEqual(['remote-read', 'remote-write']);
  });
});

describe('register()', () => {
  it('takes any view of a fixed-length SharedArrayBuffer, at any offset, any number of times', async () => {
    const { a, b, active, passive } = await connectedPair();
    const bytes = shared(1 << 16);
    const views = [
      bytes,
      bytes,
      bytes.subarray(1, 1001),
      bytes.subarray(500, 20_500),
      new DataView(bytes.buffer, 3, 77),
      new Float64Array(bytes.buffer, 8, 100),
    ];
    const target = await passive.allocate(1 << 16);
    for (const [index, view] of views.entries()) {
      bytes.fill(index + 1);
      const region = await active.register(view);
      expect(region.byteLength).toBe(view.byteLength);
      const [{ bytes: received }] = await Promise.all([b.receive(target), a.send(region)]);
      expect(received.byteLength).toBe(view.byteLength);
      expect(received.every((byte) => byte === index + 1)).toBe(true);
      expect(region.bytes.byteOffset).toBe(view.byteOffset);
    }
    expect(active.stats().regions).toBe(views.length);
  });

  it('leaves the memory as it is when the region is closed', async () => {
    const engine = await testEngine();
    const bytes = shared(64).fill(5);
    const region = await engine.register(bytes);
    await region.close();
    expect(bytes.every((byte) => byte === 5)).toBe(true);
  });
});

describe('a slice', () => {
  it('aliases its region, of slices too, and may be used again and again', async () => {
    const { a, b, passive } = await connectedPair();
    const region = await passive.allocate(1000);
    const slice = region.subarray(100, 300).subarray(50, 60);
    expect([slice.byteOffset, slice.byteLength, slice.region]).toEqual([150, 10, region]);
    for (const value of [1, 2, 3]) {
      await Promise.all([b.receive(slice), a.send(Uint8Array.of(value))]);
      expect(region.bytes[150]).toBe(value);
    }
    expect(region.subarray(1000).byteLength).toBe(0);
    expect(region.subarray().bytes).toEqual(region.bytes);
  });
});

describe('close() of a region', () => {
  it('refuses new operations, waits for those on it, and then its views read zeros', async () => {
    const { a, b, active, passive } = await connectedPair({ connect: { sendDepth: 1 } });
    const [source, target] = [await active.allocate(20_000), await passive.allocate(20_000)];
    source.bytes.fill(9);
    const view = source.bytes;
    const sends = [a.send(source), a.send(source.subarray(0, 5))];
    let isClosed = false;
    const closing = source.close().then(() => {
      isClosed = true;
    });
    expect(source.closed).toBe(true);
    const { message } = await rejection(a.send(source), 'ERR_RDMA_NOT_REGISTERED');
    expect(message).toContain('send');
    await rejection(a.receive(source.subarray(0, 5)), 'ERR_RDMA_NOT_REGISTERED');
    expect((await b.receive(target)).bytes.every((byte) => byte === 9)).toBe(true);
    await sends[0];
    expect([isClosed, view[0]]).toEqual([false, 9]);
    expect((await b.receive(target)).byteLength).toBe(5);
    await Promise.all([...sends, closing]);
    expect(isZero(view)).toBe(true);
    // Nobody else gets these pages: writing to them is harmless.
    view.fill(1);
    await expectWorks(a, b);
  });

  it('may be called twice, by any of its names', async () => {
    const engine = await testEngine();
    const region = await engine.allocate(64);
    await Promise.all([region.close(), region.deregister(), region[Symbol.asyncDispose]()]);
    await region.close();
    expect(engine.stats().regions).toBe(0);
  });

  it('waits for receives, which end with the connection', async () => {
    const { b, passive } = await connectedPair();
    const region = await passive.allocate(64);
    const codes = codesOf([b.receive(region), b.receive(region)]);
    const closing = region.close();
    await b.close();
    await closing;
    expect(await codes).toEqual(Array(2).fill('ERR_RDMA_CLOSED'));
  });

  it('that a peer has mapped is over at once, and does not disturb other messages', async () => {
    const { a, b, active, passive } = await connectedPair();
    const target = await passive.allocate(1 << 20);
    for (let round = 0; round < 100; round++) {
      const source = await active.allocate(64 * 1024);
      source.bytes.fill(round);
      const [{ bytes }] = await Promise.all([b.receive(target), a.send(source)]);
      await source.close();
      expect(bytes.every((byte) => byte === round)).toBe(true);
    }
    expect(active.stats().regions).toBe(0);
    await expectWorks(a, b);
  });

  it('gives back what copies of long byte arrays took', async () => {
    const { a, b, active, passive } = await connectedPair();
    const target = await passive.allocate(4 << 20);
    await Promise.all([b.receive(target), a.send(new Uint8Array(4 << 20).fill(3))]);
    expect(target.bytes.at(-1)).toBe(3);
    await until(() => active.stats().regions === 0);
    await Promise.all([b.receive(target), a.send(one)]);
  });
});
