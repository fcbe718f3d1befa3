// Byte arrays are copied at the call, into memory that only copies use.
import { expect, test } from 'vitest';
import { ControlKind } from '../../src/engine/layout.js';
import type { MemorySlice } from '../../src/engine/memory-region.js';
import { NativeModel } from '../helpers/native-model.js';

function connected(): NativeModel {
  const model = new NativeModel({ submissionCapacity: 64, depth: 16, maxQueued: 16 });
  const request = { kind: ControlKind.connect, privateData: new Uint8Array(0) };
  model.connection.establish('connect', request, {}).catch(() => {});
  model.step();
  model.establish();
  return model;
}

/** The slices of the operation that was posted last. */
function posted(model: NativeModel): MemorySlice[] {
  const operation = [...model.pending.values()].at(-1);
  return [operation?.first, ...(operation?.more ?? [])].filter((slice) => slice !== undefined);
}

async function sendAndComplete(
  model: NativeModel,
  source: Uint8Array | (MemorySlice | Uint8Array)[],
) {
  const sent = model.connection.send(source);
  const slices = posted(model);
  model.step();
  model.succeed(model.sends);
  await sent;
  return slices;
}

test('a copy holds the bytes of the call, whatever happens to the array afterwards', () => {
  const model = connected();
  const bytes = new Uint8Array([1, 2, 3]);
  void model.connection.send(bytes);
  bytes.fill(9);
  expect([...(posted(model)[0]?.bytes ?? [])]).toEqual([1, 2, 3]);
});

test("a program's slice beside a copied array is never taken for a free copy", async () => {
  const model = connected();
  const own = model.region.subarray(0, 256);
  own.bytes.fill(7);
  await sendAndComplete(model, [own, new Uint8Array(200)]);
  for (let round = 0; round < 8; round++) {
    const copies = await sendAndComplete(model, new Uint8Array(200).fill(round));
    expect(copies.map((copy) => copy.record)).not.toContain(own.record);
  }
  expect(own.bytes.every((byte) => byte === 7)).toBe(true);
});

test('copies in use at once do not overlap, and are used again afterwards', async () => {
  const model = connected();
  const first = model.connection.send([
    new Uint8Array(300),
    new Uint8Array(300),
    new Uint8Array(5),
  ]);
  const places = posted(model).map(({ record, byteOffset }) => `${record.slot}:${byteOffset}`);
  expect(new Set(places).size).toBe(3);
  model.step();
  model.succeed(model.sends);
  await first;
  const again = await sendAndComplete(model, new Uint8Array(300));
  expect(places).toContain(`${again[0]?.record.slot}:${again[0]?.byteOffset}`);
});

test('an array that is detached is refused, and costs nothing', async () => {
  const model = connected();
  const first = await sendAndComplete(model, new Uint8Array(300));
  for (let count = 0; count < 5000; count++) {
    const gone = new Uint8Array(300);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    await expect(model.connection.send(gone)).rejects.toMatchObject({
      code: 'ERR_RDMA_INVALID_ARG',
    });
  }
  const last = await sendAndComplete(model, new Uint8Array(300));
  expect(last[0]?.record).toBe(first[0]?.record);
});

test('an array is as long as it is, not as it says', async () => {
  class Liar extends Uint8Array {
    override get byteLength(): number {
      return 100;
    }
  }
  const [copy] = await sendAndComplete(connected(), new Liar(1));
  expect(copy?.byteLength).toBe(1);
});

test('only slices that a region made are slices', async () => {
  const model = connected();
  const { connection, region } = model;
  const forged: MemorySlice = Object.create(region, { byteLength: { value: 5.5 } });
  for (const each of [forged, new Proxy(region, {})]) {
    await expect(connection.send(each)).rejects.toMatchObject({ code: 'ERR_RDMA_INVALID_ARG' });
    await expect(connection.receive(each)).rejects.toMatchObject({ code: 'ERR_RDMA_INVALID_ARG' });
  }
  expect(() => Object.assign(region.subarray(0, 8), { byteLength: 99 })).toThrow(TypeError);
  expect(region.record.outstanding).toBe(0);
});
