// One operation from its call to its completion record. Pooled: an operation object is reused as soon
// as its completion was handled, so a running engine makes none.
import type { CompletionRecord } from './completion-ring.js';
import { Opcode, WorkFlag } from './layout.js';
import type { MemorySlice } from './memory-region.js';
import { type SendBuffers, SendCopy } from './send-buffers.js';
import type { Wait } from './wait.js';
import type { OperationName, WorkCompletion } from './work-completion.js';

const names: Readonly<Record<Opcode, OperationName>> = {
  [Opcode.send]: 'send',
  [Opcode.receive]: 'receive',
  [Opcode.read]: 'read',
  [Opcode.write]: 'write',
  [Opcode.fetchAdd]: 'fetchAdd',
  [Opcode.compareSwap]: 'compareSwap',
  [Opcode.flush]: 'flush',
};

/** The connection, as an operation sees it. */
export interface OperationOwner {
  readonly slot: number;
  readonly generation: number;
  /** The operation's completion record was read. */
  completed(operation: Operation, record: CompletionRecord): void;
}

/** `waiting`: in its queue, not yet posted; `posted`: its record was written, its memory is in use. */
export type OperationState = 'free' | 'waiting' | 'posted';

export class Operation {
  state: OperationState = 'free';
  slot = 0;
  generation = 0;
  opcode: Opcode = Opcode.flush;
  flags = 0;
  immediate = 0;
  first: MemorySlice | undefined = undefined;
  more: readonly MemorySlice[] | undefined = undefined;
  byteLength = 0;
  connection: OperationOwner;
  /** Who awaits this operation's own end; receives have theirs in the receive queue. */
  wait: Wait | undefined = undefined;
  /** Set when somebody holds `settled` of an abandoned wait. */
  settle: ((completion: WorkCompletion) => void) | undefined = undefined;
  /** Set when there are copies among `first` and `more`: where they go back to. */
  copies: SendBuffers | undefined = undefined;
  // Neighbours in the queue of waiting operations.
  next: Operation | undefined = undefined;
  previous: Operation | undefined = undefined;

  constructor(connection: OperationOwner) {
    this.connection = connection;
  }

  get name(): OperationName {
    return names[this.opcode];
  }

  setSegments(first: MemorySlice | undefined, more: readonly MemorySlice[] | undefined): void {
    this.first = first;
    this.more = more;
    this.byteLength = first === undefined ? 0 : first.byteLength;
    if (first !== undefined) first.record.retain();
    if (more === undefined) return;
    for (const slice of more) {
      slice.record.retain();
      this.byteLength += slice.byteLength;
    }
  }

  setImmediate(immediate: number | undefined): void {
    if (immediate === undefined) return;
    this.immediate = immediate;
    this.flags |= WorkFlag.immediate;
  }

  /** Gives its memory back: regions may close, copies may be reused. */
  releaseSegments(): void {
    const { first, more } = this;
    if (first !== undefined) this.#release(first);
    if (more !== undefined) for (const slice of more) this.#release(slice);
    this.first = undefined;
    this.more = undefined;
    this.copies = undefined;
  }

  #release(slice: MemorySlice): void {
    slice.record.release();
    if (this.copies !== undefined && slice instanceof SendCopy) this.copies.release(slice);
  }
}

/** A free operation must not keep its last connection, and all that hangs on it. */
const nobody: OperationOwner = { slot: 0, generation: 0, completed: () => {} };

/** The engine's operations: those in flight by op slot, and the free ones. */
export class OperationPool {
  readonly #free: Operation[] = [];

  take(connection: OperationOwner, opcode: Opcode): Operation {
    const operation = this.#free.pop() ?? new Operation(connection);
    operation.connection = connection;
    operation.opcode = opcode;
    operation.flags = 0;
    operation.immediate = 0;
    operation.state = 'waiting';
    return operation;
  }

  /** After its segments were released and nobody waits for it any more. */
  give(operation: Operation): void {
    operation.state = 'free';
    operation.connection = nobody;
    operation.wait = undefined;
    operation.settle = undefined;
    this.#free.push(operation);
  }
}
