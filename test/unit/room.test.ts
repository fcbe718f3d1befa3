// ready() and maxQueued.
import { expect, test } from 'vitest';
import { ControlKind } from '../../src/engine/layout.js';
import { NativeModel } from '../helpers/native-model.js';

function connected(maxQueued: number): NativeModel {
  const model = new NativeModel({ submissionCapacity: 64, depth: 1, maxQueued });
  const request = { kind: ControlKind.connect, privateData: new Uint8Array(0) };
  model.connection.establish('connect', request, {}).catch(() => {});
  model.step();
  model.establish();
  return model;
}

test.each([0, 1, 2, 8])(
  'ready() resolves once there is room, with maxQueued %i',
  async (maxQueued) => {
    const model = connected(maxQueued);
    const { connection, region } = model;
    for (let count = 0; count <= maxQueued; count++) void connection.send(region);
    await expect(connection.send(region)).rejects.toMatchObject({ code: 'ERR_RDMA_QUEUE_FULL' });
    let isReady = false;
    const ready = connection.ready().then(() => {
      isReady = true;
    });
    await Promise.resolve();
    expect(isReady).toBe(false);
    for (let count = 0; count <= maxQueued; count++) {
      model.step();
      model.succeed(model.sends);
    }
    await ready;
    void connection.send(region);
    expect(connection.sends.outstanding).toBe(1);
  },
);
