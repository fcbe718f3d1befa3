// The frame around private data: what went in comes out, and what a stranger sends is refused, not
// misread.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RdmaError } from '../../src/engine/errors.js';
import {
  decodePrivateData,
  encodePrivateData,
  kFrameBytes,
  kPrivateDataLimits,
} from '../../src/engine/private-data.js';

const payload = fc.uint8Array({ maxLength: kPrivateDataLimits.accept });

function decoded(framed: Uint8Array): Uint8Array | string {
  try {
    return decodePrivateData(framed, 'queuepair').bytes;
  } catch (error) {
    expect(error).toBeInstanceOf(RdmaError);
    return (error as RdmaError).code;
  }
}

describe('private data', () => {
  it('come out as they went in, however far the network pads them', () => {
    fc.assert(
      fc.property(payload, fc.nat(64), fc.nat(255), (bytes, padding, fill) => {
        const framed = encodePrivateData(bytes, 'queuepair', 'raw');
        const padded = new Uint8Array(framed.length + padding).fill(fill);
        padded.set(framed);
        expect(decoded(padded)).toEqual(bytes);
      }),
    );
  });

  it('take four bytes more on the way', () => {
    fc.assert(
      fc.property(payload, (bytes) => {
        expect(encodePrivateData(bytes, 'queuepair', 'raw')).toHaveLength(
          kFrameBytes + bytes.length,
        );
      }),
    );
  });

  it('that are cut short are refused', () => {
    fc.assert(
      fc.property(payload, fc.nat(), (bytes, cut) => {
        const framed = encodePrivateData(bytes, 'queuepair', 'raw');
        expect(decoded(framed.subarray(0, cut % framed.length))).toBe('ERR_RDMA_PROTOCOL');
      }),
    );
  });

  it('of a stranger are refused, or lie inside what it sent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 256 }), (bytes) => {
        const result = decoded(bytes);
        if (typeof result === 'string') expect(result).toBe('ERR_RDMA_PROTOCOL');
        else expect(result).toEqual(bytes.subarray(kFrameBytes, kFrameBytes + result.length));
      }),
      { examples: [[Uint8Array.of(0x71, 0x10, 0xff, 0xff)], [Uint8Array.of(0x71, 0x1f, 0, 0)]] },
    );
  });

  it('with one wrong byte in the frame are refused, or shorter', () => {
    fc.assert(
      fc.property(
        payload,
        fc.nat(kFrameBytes - 1),
        fc.integer({ min: 1, max: 255 }),
        (bytes, at, flip) => {
          const framed = encodePrivateData(bytes, 'queuepair', 'raw');
          framed[at] = (framed[at] ?? 0) ^ flip;
          const result = decoded(framed);
          if (typeof result !== 'string') expect(result.length).toBeLessThan(bytes.length);
        },
      ),
    );
  });

  it('in the raw format are left alone', () => {
    fc.assert(
      fc.property(payload, (bytes) => {
        expect(encodePrivateData(bytes, 'raw', 'raw')).toEqual(bytes);
        expect(decodePrivateData(bytes, 'raw').bytes).toEqual(bytes);
      }),
    );
  });

  it('are copied out, so that the received buffer can be reused', () => {
    const framed = encodePrivateData(Uint8Array.of(1, 2, 3), 'queuepair', 'raw');
    const { bytes } = decodePrivateData(framed, 'queuepair');
    framed.fill(0);
    expect(bytes).toEqual(Uint8Array.of(1, 2, 3));
  });
});
