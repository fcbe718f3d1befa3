// What is sent along with connect, accept and reject.
import type { ConnectOptions } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { rejection } from '../helpers/errors.js';
import { expectNothingLeft } from '../helpers/leftovers.js';
import {
  acceptAll,
  connectedPair,
  expectServes,
  expectWorks,
  nextRequest,
  testEngine,
} from '../helpers/pair.js';

expectNothingLeft();

const bytes = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => 255 - (index % 256));

describe('private data', () => {
  it.each([
    [0, 0],
    [1, 1],
    [52, 192],
  ])('of %i bytes on connect and %i on accept arrive as they were', async (request, answer) => {
    const { a, b } = await connectedPair({
      connect: { privateData: bytes(request) },
      accept: { privateData: bytes(answer) },
    });
    expect(b.privateData).toEqual(bytes(request));
    expect(a.privateData).toEqual(bytes(answer));
  });

  it('left out is empty', async () => {
    const { a, b } = await connectedPair();
    expect([a.privateData, b.privateData]).toEqual([bytes(0), bytes(0)]);
  });

  it.each([0, 144])('of %i bytes comes with a reject', async (length) => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const connecting = rejection(engine.connect(listener.address), 'ERR_RDMA_REJECTED');
    const request = await nextRequest(listener);
    await request.reject({ privateData: bytes(length) });
    expect((await connecting).privateData).toEqual(bytes(length));
    await expectServes(engine);
  });

  it('one byte too long is refused with the limit, and the request can still be answered', async () => {
    const engine = await testEngine();
    const listener = await engine.listen();
    const { port } = listener.address;
    const refuse = async (work: Promise<unknown>, limit: string): Promise<void> => {
      expect((await rejection(work, 'ERR_RDMA_INVALID_ARG')).message).toContain(limit);
    };
    await refuse(engine.connect({ port, privateData: bytes(53) }), 'at most 52');
    const connecting = engine.connect({ port });
    const request = await nextRequest(listener);
    await refuse(request.accept({ privateData: bytes(193) }), 'at most 192');
    await refuse(request.reject({ privateData: bytes(145) }), 'at most 144');
    const [a, b] = await Promise.all([connecting, request.accept()]);
    await expectWorks(a, b);
  });

  it("may be as long as the provider allows with privateDataLimit: 'provider'", async () => {
    const privateDataLimit = 'provider';
    const longest = { privateDataLimit, privateData: bytes(1020) } as const;
    const { a, b, active } = await connectedPair({ connect: longest, accept: longest });
    expect([a.privateData, b.privateData]).toEqual([bytes(1020), bytes(1020)]);
    const tooLong = { port: 1, privateDataLimit, privateData: bytes(1021) } as const;
    await rejection(active.connect(tooLong), 'ERR_RDMA_INVALID_ARG');
  });

  it('in raw format is exchanged as it is', async () => {
    const engine = await testEngine();
    const listener = await engine.listen({ privateDataFormat: 'raw' });
    const options: ConnectOptions = { ...listener.address, privateData: bytes(52) };
    const connecting = engine.connect({ ...options, privateDataFormat: 'raw' });
    const request = await nextRequest(listener);
    expect(request.privateData).toEqual(bytes(52));
    const accepted = await request.accept({ privateData: bytes(9) });
    const connection = await connecting;
    expect(connection.privateData).toEqual(bytes(9));
    await expectWorks(connection, accepted);
  });

  it('in a format that the other side does not speak ends in a coded rejection', async () => {
    const engine = await testEngine();
    const framed = await acceptAll(engine);
    const raw = await acceptAll(engine, { privateDataFormat: 'raw' });
    const connecting = engine.connect({ port: framed.port, privateDataFormat: 'raw' });
    await rejection(connecting, 'ERR_RDMA_REJECTED');
    await rejection(engine.connect({ port: raw.port }), 'ERR_RDMA_PROTOCOL');
    await expectServes(engine);
  });
});
