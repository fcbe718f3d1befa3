// Op slots: a slot and its generation name one operation, once.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Operation } from '../../src/engine/operation.js';
import { PendingTable } from '../../src/engine/pending-table.js';

const owner = { slot: 0, generation: 1, completed: (): void => {} };

interface Name {
  readonly slot: number;
  readonly generation: number;
}

function add(table: PendingTable, operation: Operation = new Operation(owner)): Name {
  table.add(operation);
  return { slot: operation.slot, generation: operation.generation };
}

describe('the pending table', () => {
  it('finds each operation once, and nothing under an old or made-up name', () => {
    const step = fc.record({ take: fc.boolean(), pick: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new PendingTable(64);
        const open: { name: Name; operation: Operation }[] = [];
        const old: Name[] = [];
        for (const { take, pick } of steps) {
          const chosen = take ? open.splice(pick % Math.max(open.length, 1), 1)[0] : undefined;
          if (chosen !== undefined) {
            expect(table.take(chosen.name.slot, chosen.name.generation)).toBe(chosen.operation);
            old.push(chosen.name);
          } else if (open.length < table.capacity) {
            const operation = new Operation(owner);
            open.push({ name: add(table, operation), operation });
          }
          for (const name of old) expect(table.take(name.slot, name.generation)).toBeUndefined();
          expect(table.inFlight).toBe(open.length);
          expect([...table.values()]).toHaveLength(open.length);
        }
        expect(new Set(open.map(({ name }) => name.slot)).size).toBe(open.length);
      }),
      { numRuns: 50 },
    );
  });

  it('gives slots below its capacity as long as no more are reserved', () => {
    const table = new PendingTable(8);
    const names = Array.from({ length: 8 }, () => add(table));
    for (const { slot, generation } of names) table.take(slot, generation);
    const again = Array.from({ length: 8 }, () => add(table));
    expect(again.map(({ slot }) => slot).toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('reserves up to its capacity and no further', () => {
    const table = new PendingTable(256);
    expect([table.reserve(200), table.reserve(57), table.reserve(56)]).toEqual([true, false, true]);
    table.unreserve(200);
    expect([table.reserve(201), table.reserve(200)]).toEqual([false, true]);
  });

  it('knows no slot that it never gave', () => {
    const table = new PendingTable(4);
    const { slot, generation } = add(table);
    for (const [wrongSlot, wrongGeneration] of [
      [-1, generation],
      [slot + 1, generation],
      [4_294_967_295, generation],
      [slot, generation + 1],
      [slot, 0],
      [Number.NaN, Number.NaN],
    ] as const) {
      expect(table.take(wrongSlot, wrongGeneration)).toBeUndefined();
    }
    expect(table.inFlight).toBe(1);
  });
});
