// Both rings against plain queues, with indices that wrap around 2^32 on the way.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CompletionRing } from '../../src/engine/completion-ring.js';
import { LaneMemory } from '../../src/engine/lane-memory.js';
import { completion, layout, Opcode, submission } from '../../src/engine/layout.js';
import { MemorySlice, RegionRecord } from '../../src/engine/memory-region.js';
import { Operation } from '../../src/engine/operation.js';
import { SubmissionRing } from '../../src/engine/submission-ring.js';

const kCapacity = 8;
/** Free-running indices begin up to twice the ring before the wrap. */
const start = fc.integer({ min: -2 * kCapacity, max: kCapacity });
const connection = { slot: 5, generation: 0x80000001 | 0, completed: (): void => {} };
const host = { closeRegion: (): Promise<void> => Promise.resolve() };

function laneAt(index: number): LaneMemory {
  const memory = new LaneMemory({ submissionCapacity: kCapacity, completionCapacity: kCapacity });
  for (const at of [
    layout.submissionTailAt,
    layout.submissionHeadAt,
    layout.completionTailAt,
    layout.completionHeadAt,
  ]) {
    memory.words[at / 4] = index;
  }
  return memory;
}

const word = fc.integer({ min: 0, max: 0xffffffff });
/** Offsets and lengths up to 2^40, as in the largest region. */
const long = fc.oneof(fc.nat(4096), fc.integer({ min: 0, max: 2 ** 40 }));

describe('the submission ring', () => {
  const segment = fc.record({ slot: word, generation: word, byteOffset: long, byteLength: long });
  const request = fc.record({
    slot: word,
    generation: word,
    immediate: fc.option(word, { nil: undefined }),
    segments: fc.array(segment, { maxLength: 4 }),
  });
  type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;

  function operationOf(of: Request): Operation {
    const operation = new Operation(connection);
    operation.opcode = Opcode.send;
    operation.slot = of.slot | 0;
    operation.generation = of.generation | 0;
    const slices = of.segments.map(({ slot, generation, byteOffset, byteLength }) => {
      const record = new RegionRecord(
        host,
        { slot: slot | 0, generation: generation | 0 },
        new SharedArrayBuffer(0),
        0,
        2 ** 41,
        [],
      );
      return new MemorySlice(record, undefined, byteOffset, byteLength);
    });
    operation.setSegments(slices[0], slices.length > 1 ? slices.slice(1) : undefined);
    operation.setImmediate(of.immediate);
    return operation;
  }

  /** What native code reads at a free-running index, by the byte offsets of the layout. */
  function read(memory: LaneMemory, index: number): Request {
    const at = memory.submissionRing + (index & (kCapacity - 1)) * layout.submissionBytes;
    const view = new DataView(memory.bytes.buffer, at, layout.submissionBytes);
    const u32 = (offset: number): number => view.getUint32(offset, true);
    const u64 = (offset: number): number => Number(view.getBigUint64(offset, true));
    expect(view.getUint8(submission.opcodeAt)).toBe(Opcode.send);
    expect(u32(submission.connectionSlotAt)).toBe(connection.slot);
    expect(u32(submission.connectionGenerationAt)).toBe(connection.generation >>> 0);
    const count = view.getUint8(submission.segmentCountAt);
    return {
      slot: u32(submission.operationSlotAt),
      generation: u32(submission.operationGenerationAt),
      immediate: view.getUint8(submission.flagsAt) === 0 ? undefined : u32(submission.immediateAt),
      segments: submission.segmentAt.slice(0, count).map((segmentAt) => ({
        slot: u32(segmentAt),
        generation: u32(segmentAt + 4),
        byteOffset: u64(segmentAt + 8),
        byteLength: u64(segmentAt + 16),
      })),
    };
  }

  it('carries every record, in order, and never more than it holds', () => {
    const batch = fc.record({ requests: fc.array(request, { maxLength: 12 }), taken: fc.nat(12) });
    fc.assert(
      fc.property(start, fc.array(batch, { maxLength: 12 }), (index, batches) => {
        const memory = laneAt(index);
        const ring = new SubmissionRing(memory);
        const expected: Request[] = [];
        let head = index;
        for (const { requests, taken } of batches) {
          const before = expected.length;
          for (const of of requests) {
            expect(ring.write(operationOf(of))).toBe(expected.length < kCapacity);
            if (expected.length < kCapacity) expected.push(of);
          }
          expect(Atomics.load(memory.words, layout.submissionTailAt / 4)).toBe((head + before) | 0);
          expect(ring.publish()).toBe(expected.length > before);
          expect(Atomics.load(memory.words, layout.submissionTailAt / 4)).toBe(
            (head + expected.length) | 0,
          );
          for (const of of expected.splice(0, taken)) {
            expect(read(memory, head)).toEqual(of);
            head = (head + 1) | 0;
          }
          Atomics.store(memory.words, layout.submissionHeadAt / 4, head);
        }
      }),
    );
  });
});

describe('the completion ring', () => {
  const record = fc.record({
    slot: word,
    generation: word,
    status: fc.nat(255),
    flags: fc.nat(255),
    immediate: word,
    byteLength: long,
    vendorError: word,
  });
  type Completed = typeof record extends fc.Arbitrary<infer T> ? T : never;

  function write(memory: LaneMemory, index: number, of: Completed): void {
    const at = memory.completionRing + (index & (kCapacity - 1)) * layout.completionBytes;
    const view = new DataView(memory.bytes.buffer, at, layout.completionBytes);
    view.setUint32(completion.operationSlotAt, of.slot, true);
    view.setUint32(completion.operationGenerationAt, of.generation, true);
    view.setUint8(completion.statusAt, of.status);
    view.setUint8(completion.flagsAt, of.flags);
    view.setUint32(completion.immediateAt, of.immediate, true);
    view.setBigUint64(completion.byteLengthAt, BigInt(of.byteLength), true);
    view.setUint32(completion.resultAt, of.vendorError, true);
  }

  it('gives every record once, in order, and room back after each drain', () => {
    const batch = fc.record({
      records: fc.array(record, { maxLength: kCapacity }),
      max: fc.nat(12),
    });
    fc.assert(
      fc.property(start, fc.array(batch, { maxLength: 12 }), (index, batches) => {
        const memory = laneAt(index);
        const ring = new CompletionRing(memory);
        const expected: Completed[] = [];
        let tail = index;
        for (const { records, max } of batches) {
          for (const of of records.slice(0, kCapacity - expected.length)) {
            write(memory, tail, of);
            tail = (tail + 1) | 0;
            expected.push({ ...of, slot: of.slot | 0, generation: of.generation | 0 });
          }
          Atomics.store(memory.words, layout.completionTailAt / 4, tail);
          expect(ring.reached(ring.tail())).toBe(expected.length === 0);
          const seen: Completed[] = [];
          const count = ring.drain(max, (of) => seen.push({ ...of }));
          expect(seen).toEqual(expected.splice(0, count));
          expect(count).toBe(seen.length);
          expect(Atomics.load(memory.words, layout.completionHeadAt / 4)).toBe(
            (tail - expected.length) | 0,
          );
        }
      }),
    );
  });

  it('goes on after the record whose handler threw', () => {
    const memory = laneAt(-1);
    const ring = new CompletionRing(memory);
    const of = {
      slot: 0,
      generation: 1,
      status: 0,
      flags: 0,
      immediate: 0,
      byteLength: 0,
      vendorError: 0,
    };
    for (const slot of [0, 1, 2]) write(memory, slot - 1, { ...of, slot });
    Atomics.store(memory.words, layout.completionTailAt / 4, 2);
    const seen: number[] = [];
    const sink = ({ slot }: { slot: number }): void => {
      seen.push(slot);
      if (slot === 1) throw new Error('the program’s');
    };
    expect(() => ring.drain(10, sink)).toThrow('the program’s');
    expect(ring.drain(10, sink)).toBe(1);
    expect(seen).toEqual([0, 1, 2]);
  });
});
