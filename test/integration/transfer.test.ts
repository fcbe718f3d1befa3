// Messages arrive whole, in order and where they should, in every polling mode, within one engine,
// between engines and between processes.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EndApi, expectedDigest, type ReceiveSpec, type SendSpec } from '../helpers/end.mjs';
import { type Ends, everyway, openEnds } from '../helpers/ends.js';
import { expectNothingLeft } from '../helpers/leftovers.js';

expectNothingLeft();

const KiB = 1024;
const MiB = 1024 * KiB;
const sum = (list: readonly number[]): number => list.reduce((total, each) => total + each, 0);
const byNumber = (one: number, other: number): number => one - other;

type Message = SendSpec & { readonly into?: ReceiveSpec };

/** What the other end receives, in one piece unless it says otherwise, is what was sent. */
async function expectArrives(from: EndApi, to: EndApi, { into, ...send }: Message): Promise<void> {
  const byteLength = sum(send.lengths);
  const receiving = to.receive(into ?? { lengths: [byteLength] });
  const sending = from.send(send);
  expect(await receiving).toEqual({
    status: 'success',
    byteLength,
    immediate: send.immediate,
    intact: true,
    digest: expectedDigest(send.seed ?? 1, byteLength),
  });
  expect(await sending).toEqual({ operation: 'send', status: 'success', byteLength });
}

describe.each(everyway)('$polling polling, $topology:', ({ polling, topology }) => {
  let ends: Ends;
  beforeAll(async () => {
    ends = await openEnds(polling, topology);
  });
  afterEach(async ({ task }) => {
    if (task.result?.state !== 'fail') return;
    await ends.close();
    ends = await openEnds(polling, topology);
  });
  afterAll(() => ends.close());

  /** Many are in flight at once; they arrive in this order. */
  const expectAllArrive = (messages: readonly Message[]): Promise<unknown> =>
    Promise.all(messages.map((message) => expectArrives(ends.a, ends.b, message)));

  it('a message of every length arrives whole, in both directions', async () => {
    const { a, b } = ends;
    // Around each length at which a message takes another way.
    const around = [96, 4 * KiB, 16 * KiB, 64 * KiB].flatMap((length) => [
      length - 1,
      length,
      length + 1,
    ]);
    for (const [index, length] of [0, 1, 64, ...around, MiB, 8 * MiB].entries()) {
      await Promise.all([
        expectArrives(a, b, { seed: 2 * index + 1, lengths: [length] }),
        expectArrives(b, a, { seed: 2 * index + 2, lengths: [length] }),
      ]);
    }
  });

  it('a message shorter than its receive leaves the rest of it alone', async () => {
    const lengths = [0, 1, 64, 16 * KiB + 1, 100_000];
    await expectAllArrive(
      lengths.map((length) => ({ lengths: [length], into: { lengths: [length + 4321] } })),
    );
  });

  it('one to four segments on either side make one message', async () => {
    const counts = [1, 2, 3, 4];
    for (const unit of [1, 37, 5_000, 70_000]) {
      // 12 units each; the parts of the two sides begin at different places.
      const parts = (count: number): number[] => Array(count).fill((12 * unit) / count);
      const uneven = (count: number): number[] => [
        ...Array(count - 1).fill(unit),
        (13 - count) * unit,
      ];
      await expectAllArrive(
        counts.flatMap((sources) =>
          counts.map((targets) => ({
            seed: unit + sources,
            lengths: parts(sources),
            into: { lengths: uneven(targets) },
          })),
        ),
      );
    }
    await expectAllArrive([{ lengths: [0, 5, 0, 6], into: { lengths: [0, 7, 0, 9] } }]);
  });

  it('an immediate from 0 to 2^32 - 1 comes with its message, and none stays none', async () => {
    const immediates = [0, 1, 2 ** 31, 2 ** 32 - 1, undefined];
    const lengths = [0, 64, 5_000, 100_000];
    await expectAllArrive(
      immediates.flatMap((immediate) =>
        lengths.map((length) => ({ lengths: [length], immediate })),
      ),
    );
  });

  it.each(['bytes', 'buffer'] as const)('sent %s are copied at the call', async (memory) => {
    const lengths = [0, 1, 255, 257, 5_000, 100_000, 2 * MiB];
    await expectAllArrive([
      ...lengths.map((length) => ({ seed: length, lengths: [length], memory })),
      { lengths: [3, 300, 40_000, 5], memory },
    ]);
  });

  it('memory of every kind can be sent from and received into', async () => {
    const kinds = ['allocated', 'shared', 'wasm'] as const;
    const lengths = [64, 16 * KiB + 1, 300_000];
    await expectAllArrive(
      kinds.flatMap((memory) =>
        kinds.flatMap((target) =>
          lengths.map((length) => ({
            seed: length,
            lengths: [length],
            memory,
            into: { lengths: [length], memory: target },
          })),
        ),
      ),
    );
  });

  it.each([
    { count: 10_000, depth: 64, byteLength: 64 },
    { count: 400, depth: 16, byteLength: 40_000 },
  ])(
    '$count messages of $byteLength B, $depth at a time each way, keep their order',
    async (stream) => {
      const { a, b } = ends;
      expect(await Promise.all([a.stream(stream), b.stream(stream)])).toEqual([[], []]);
    },
    60_000,
  );

  it('messages wait in order for a receiver that is not ready', async () => {
    const { a, b } = ends;
    const lengths = [10, 20_000, 0, 64, 300_000, 96, 7];
    const sends = lengths.map((length, index) => a.send({ seed: index + 1, lengths: [length] }));
    for (const [index, length] of lengths.entries()) {
      expect(await b.receive({ lengths: [length] })).toMatchObject({
        byteLength: length,
        digest: expectedDigest(index + 1, length),
      });
    }
    expect((await Promise.all(sends)).map(({ byteLength }) => byteLength)).toEqual(lengths);
  });

  it('random messages into random receives arrive as they were sent', async () => {
    const { a, b } = ends;
    const kinds = ['allocated', 'shared', 'wasm'] as const;
    const length = fc.oneof(
      fc.integer({ min: 0, max: 200 }),
      fc.integer({ min: 16_000, max: 17_000 }),
      fc.integer({ min: 0, max: 60_000 }),
    );
    const message = fc.record({
      seed: fc.nat(),
      lengths: fc.array(length, { minLength: 1, maxLength: 4 }),
      memory: fc.constantFrom(...kinds, 'bytes' as const),
      immediate: fc.option(fc.nat(), { nil: undefined }),
      // How the receive is cut, how much longer it is, and in which memory.
      cuts: fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 3 }),
      slack: fc.nat(1000),
      target: fc.constantFrom(...kinds),
      backward: fc.boolean(),
    });
    const batch = fc.array(message, { minLength: 1, maxLength: 24 });
    const property = fc.asyncProperty(batch, async (messages) => {
      const arriving = messages.map(({ cuts, slack, target, backward, ...send }) => {
        const total = sum(send.lengths) + slack;
        const at = [0, ...cuts.map((cut) => Math.floor((cut * total) / 100)), total].sort(byNumber);
        const lengths = at.slice(1).map((end, index) => end - (at[index] ?? 0));
        const [from, to] = backward ? [b, a] : [a, b];
        return expectArrives(from, to, { ...send, into: { lengths, memory: target } });
      });
      await Promise.all(arriving);
    });
    // On failure the seed is printed; a failed connection is no good for a second try.
    await fc.assert(property, { numRuns: 20, endOnFailure: true });
  });
});
