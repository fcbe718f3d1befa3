// One direction of a connection: what is posted, at most `depth`, and what waits behind it, in order.
import { RdmaError } from './errors.js';
import type { Operation } from './operation.js';
import type { PendingTable } from './pending-table.js';
import type { SubmissionRing } from './submission-ring.js';

/** What the queue needs of the engine. */
export interface Submitter {
  readonly pending: PendingTable;
  readonly submissions: SubmissionRing;
  /** Calls `queue.pump()` once the submission ring has room again. */
  waitForSpace(queue: WorkQueue): void;
}

export class WorkQueue {
  #depth: number;
  #maxQueued: number;
  posted = 0;
  waiting = 0;
  /** How often an operation had to wait since the connection was made. */
  waits = 0;
  readonly #submitter: Submitter;
  #head: Operation | undefined = undefined;
  #tail: Operation | undefined = undefined;
  /** Called when `waiting` fell to half of `maxQueued`, once per call of whenRoom(). */
  #onRoom: (() => void)[] = [];

  constructor(submitter: Submitter, depth: number, maxQueued: number) {
    this.#submitter = submitter;
    this.#depth = depth;
    this.#maxQueued = maxQueued;
  }

  /** Before anything is posted. */
  setDepth(depth: number, maxQueued: number): void {
    this.#depth = depth;
    this.#maxQueued = maxQueued;
  }

  get outstanding(): number {
    return this.posted + this.waiting;
  }

  get hasRoom(): boolean {
    return this.posted + this.waiting < this.#depth + this.#maxQueued;
  }

  /** Throws ERR_RDMA_QUEUE_FULL when `count` more operations would be too many. */
  checkRoom(operation: string, count: number): void {
    if (this.posted + this.waiting + count <= this.#depth + this.#maxQueued) return;
    throw new RdmaError(
      'ERR_RDMA_QUEUE_FULL',
      `${operation}: ${this.posted} operations are posted and ${this.waiting} wait; ` +
        `${count} more would exceed maxQueued (${this.#maxQueued}). Await connection.ready() first.`,
      { operation },
    );
  }

  /** After checkRoom(). The caller publishes the submission ring. */
  submit(operation: Operation): void {
    if (this.#head === undefined && this.#post(operation)) return;
    this.waits++;
    this.#append(operation);
    if (this.posted < this.#depth) this.#submitter.waitForSpace(this);
  }

  /** A posted operation completed. What waits follows only a success: else the connection is over. */
  completed(succeeded: boolean): void {
    this.posted--;
    if (succeeded) this.pump();
    this.#tellOfRoom();
  }

  /** Posts what may be posted now. The caller publishes the submission ring. */
  pump(): void {
    while (this.#head !== undefined) {
      const operation = this.#head;
      if (!this.#post(operation)) {
        if (this.posted < this.#depth) this.#submitter.waitForSpace(this);
        return;
      }
      this.#unlink(operation);
    }
  }

  /** Removes an operation that was not yet posted. */
  remove(operation: Operation): void {
    this.#unlink(operation);
  }

  /** Removes the oldest operation that was not yet posted. */
  shift(): Operation | undefined {
    const operation = this.#head;
    if (operation !== undefined) this.#unlink(operation);
    return operation;
  }

  /** Resolves when there is room for more; at once if there is. */
  whenRoom(): Promise<void> {
    if (this.hasRoom) return Promise.resolve();
    return new Promise((resolve) => this.#onRoom.push(resolve));
  }

  /** Ends every whenRoom(): the caller then sees the connection's end. */
  releaseWaiters(): void {
    const callbacks = this.#onRoom;
    this.#onRoom = [];
    for (const callback of callbacks) callback();
  }

  #post(operation: Operation): boolean {
    if (this.posted >= this.#depth) return false;
    const { pending, submissions } = this.#submitter;
    pending.add(operation);
    if (!submissions.write(operation)) {
      pending.take(operation.slot, operation.generation);
      return false;
    }
    operation.state = 'posted';
    this.posted++;
    return true;
  }

  #append(operation: Operation): void {
    operation.state = 'waiting';
    operation.previous = this.#tail;
    operation.next = undefined;
    if (this.#tail === undefined) this.#head = operation;
    else this.#tail.next = operation;
    this.#tail = operation;
    this.waiting++;
  }

  #unlink(operation: Operation): void {
    const { next, previous } = operation;
    if (previous === undefined) this.#head = next;
    else previous.next = next;
    if (next === undefined) this.#tail = previous;
    else next.previous = previous;
    operation.next = undefined;
    operation.previous = undefined;
    this.waiting--;
    this.#tellOfRoom();
  }

  /** Not for a single place: whoever waited would fill it and wait again. */
  #tellOfRoom(): void {
    if (this.#onRoom.length === 0 || !this.hasRoom) return;
    if (this.waiting <= this.#maxQueued / 2) this.releaseWaiters();
  }
}
