// Options are checked once, at the call, and the message names what is wrong and what would be right.
import { availableParallelism } from 'node:os';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  resolveAcceptOptions,
  resolveCloseTimeout,
  resolveConnectOptions,
  resolveEngineOptions,
  resolveListenOptions,
} from '../../src/engine/engine-options.js';
import { RdmaError } from '../../src/engine/errors.js';

const limits = {
  maxSegments: 4,
  maxDepth: 1024,
  maxMessageBytes: 2 ** 30,
  connectPrivateBytes: 1024,
  acceptPrivateBytes: 1024,
  rejectPrivateBytes: 1024,
};

/** Values of every wrong type go in, so nothing is known of their types. */
const calls = {
  openEngine: (options: unknown): unknown => resolveEngineOptions(options as never),
  connect: (options: unknown): unknown => resolveConnectOptions(options as never, limits),
  accept: (options: unknown): unknown =>
    resolveAcceptOptions(options as never, limits, 'queuepair'),
  listen: (options: unknown): unknown => resolveListenOptions(options as never),
  close: (options: unknown): unknown => resolveCloseTimeout(options as never),
};
type Call = keyof typeof calls;
const names = Object.keys(calls) as Call[];

function refusal(call: Call, options: unknown): RdmaError {
  try {
    calls[call](options);
  } catch (error) {
    expect(error).toBeInstanceOf(RdmaError);
    expect(error).toMatchObject({ code: 'ERR_RDMA_INVALID_ARG' });
    return error as RdmaError;
  }
  throw new Error(`${call} took it`);
}

describe('defaults', () => {
  it('are those of the documentation', () => {
    expect(calls.openEngine(undefined)).toEqual({
      provider: 'auto',
      polling: 'adaptive',
      spinNanoseconds: availableParallelism() < 4 ? 10_000 : 50_000,
      maxOperations: 65_536,
    });
    expect(calls.connect({ port: 1 })).toMatchObject({
      host: '127.0.0.1',
      depths: { sendDepth: 64, receiveDepth: 64, maxQueued: 4096 },
      wait: { timeoutMs: 10_000, signal: undefined },
      receives: [],
      format: 'queuepair',
    });
    expect(calls.listen({})).toEqual({
      host: '127.0.0.1',
      port: 0,
      backlog: 128,
      format: 'queuepair',
    });
    expect(calls.close({})).toBe(5000);
  });

  it('hold for options that are given as undefined', () => {
    expect(calls.listen({ port: undefined, backlog: undefined })).toEqual(calls.listen(undefined));
  });
});

describe('an unknown option', () => {
  it.each(names)('of %s is named, with those that it knows', (call) => {
    const { message } = refusal(call, { port: 1, timeoutMS: 5, timeoutMs: 5 });
    expect(message).toMatch(new RegExp(`^${call}: unknown option '(timeoutMS|port)'`));
    expect(message).toContain('Known options: ');
  });

  it.each(names)('of %s is found though every object has one of that name', (call) => {
    expect(refusal(call, { constructor: 1 }).message).toContain("unknown option 'constructor'");
  });
});

describe('options that are no object', () => {
  it.each(names)('of %s are refused', (call) => {
    for (const options of [null, 5, 'port', [], true, 5n, Symbol('x'), () => {}]) {
      expect(refusal(call, options).message).toMatch(`${call}: options must be an object`);
    }
  });
});

describe('an option out of its range', () => {
  const cases: readonly (readonly [Call, string, Record<string, unknown>])[] = [
    [
      'openEngine',
      'spinMicroseconds must be an integer from 0 to 1000000',
      { spinMicroseconds: -1 },
    ],
    ['openEngine', 'maxOperations must be an integer from 256 to 1048576', { maxOperations: 128 }],
    ['openEngine', 'maxOperations must be a power of two, not 300', { maxOperations: 300 }],
    ['openEngine', "polling must be one of adaptive, spin, event, not 'fast'", { polling: 'fast' }],
    ['openEngine', "provider must be a provider's name or 'auto'", { provider: 7 }],
    ['connect', 'port must be an integer from 1 to 65535, not undefined', {}],
    ['connect', 'port must be an integer from 1 to 65535, not 0', { port: 0 }],
    ['connect', "port must be an integer from 1 to 65535, not '7471'", { port: '7471' }],
    ['connect', 'host must be a host name or a numeric address', { port: 1, host: '' }],
    [
      'connect',
      'sendDepth must be an integer from 1 to 1024, not 1025',
      { port: 1, sendDepth: 1025 },
    ],
    ['connect', 'maxQueued must be an integer from 0 to 1048576', { port: 1, maxQueued: 1.5 }],
    [
      'connect',
      'timeoutMs must be an integer from 1 to 2147483647, not 0',
      { port: 1, timeoutMs: 0 },
    ],
    ['connect', 'signal must be an AbortSignal', { port: 1, signal: {} }],
    ['connect', 'receives must be an array of slices', { port: 1, receives: 'all' }],
    [
      'connect',
      'privateData must be a Uint8Array, not a value of type ArrayBuffer',
      { port: 1, privateData: new ArrayBuffer(4) },
    ],
    [
      'connect',
      'privateData is 53 bytes long; at most 52 fit',
      { port: 1, privateData: new Uint8Array(53) },
    ],
    [
      'accept',
      'privateData is 193 bytes long; at most 192 fit',
      { privateData: new Uint8Array(193) },
    ],
    ['accept', 'privateDataLimit must be one of portable, provider', { privateDataLimit: 'none' }],
    ['listen', 'port must be an integer from 0 to 65535, not 65536', { port: 65_536 }],
    ['listen', 'backlog must be an integer from 1 to 4096, not NaN', { backlog: Number.NaN }],
    [
      'close',
      'timeoutMs must be an integer from 1 to 2147483647, not Infinity',
      { timeoutMs: Number.POSITIVE_INFINITY },
    ],
  ];
  it.each(cases)('%s: %s', (call, message, options) => {
    expect(refusal(call, options).message).toContain(`${call}: ${message}`);
  });
});

describe('limits', () => {
  it("are lifted to the provider's, less the frame where there is one", () => {
    const lifted = { port: 1, privateDataLimit: 'provider' };
    calls.connect({ ...lifted, privateData: new Uint8Array(1020) });
    refusal('connect', { ...lifted, privateData: new Uint8Array(1021) });
    const raw = { ...lifted, privateDataFormat: 'raw' };
    calls.connect({ ...raw, privateData: new Uint8Array(1024) });
    refusal('connect', { ...raw, privateData: new Uint8Array(1025) });
  });
});

describe('whatever is given', () => {
  it('is taken or refused with an RdmaError of one line', () => {
    const options = fc.oneof(
      fc.anything(),
      fc.record(
        {
          host: fc.anything(),
          port: fc.anything(),
          privateData: fc.anything(),
          receives: fc.anything(),
          signal: fc.anything(),
          timeoutMs: fc.anything(),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), options, (call, given) => {
        try {
          calls[call](given);
        } catch (error) {
          expect(error).toBeInstanceOf(RdmaError);
          expect((error as RdmaError).message).not.toContain('\n');
        }
      }),
      { numRuns: 1000 },
    );
  });
});
