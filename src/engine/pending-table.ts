// Op slots: which posted operation a completion record speaks of. Slots are reserved when a
// connection is made (both depths), so a post never finds none free, and the completion ring, which
// has a record for every slot, cannot overflow.
import type { Operation } from './operation.js';

export class PendingTable {
  readonly capacity: number;
  readonly #operations: (Operation | undefined)[] = [];
  readonly #generations: number[] = [];
  readonly #free: number[] = [];
  #reserved = 0;
  #inFlight = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** False when fewer than `count` slots are left to reserve. */
  reserve(count: number): boolean {
    if (this.#reserved + count > this.capacity) return false;
    this.#reserved += count;
    return true;
  }

  unreserve(count: number): void {
    this.#reserved -= count;
  }

  /** Gives the operation a slot, and that slot's next generation. */
  add(operation: Operation): void {
    let slot = this.#free.pop();
    if (slot === undefined) {
      slot = this.#operations.length;
      this.#operations.push(undefined);
      this.#generations.push(0);
    }
    const generation = ((this.#generations[slot] as number) + 1) | 0;
    this.#generations[slot] = generation;
    this.#operations[slot] = operation;
    this.#inFlight++;
    operation.slot = slot;
    operation.generation = generation;
  }

  /** The operation that this slot and generation name, which then no longer has them. */
  take(slot: number, generation: number): Operation | undefined {
    const operation = this.#operations[slot];
    if (operation === undefined || operation.generation !== generation) return undefined;
    this.#operations[slot] = undefined;
    this.#free.push(slot);
    this.#inFlight--;
    return operation;
  }

  /** Every operation that has a slot. */
  *values(): Generator<Operation> {
    for (const operation of this.#operations) if (operation !== undefined) yield operation;
  }
}
