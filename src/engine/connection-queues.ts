// The two queues of a connection, and how work ends: completed, abandoned, flushed, or refused
// because the connection is over. Posting is in connection-work.ts.
import type { CompletionRecord } from './completion-ring.js';
import type { ConnectionDepths, ConnectionHost } from './connection-host.js';
import { errorFromStatus, type RdmaError, type RdmaErrorDetails } from './errors.js';
import { Opcode, WorkFlag } from './layout.js';
import type { Operation, OperationOwner } from './operation.js';
import { ReceiveQueue } from './receive-queue.js';
import { Status, statusName } from './status.js';
import type { Wait, WaitOwner } from './wait.js';
import { WorkCompletion } from './work-completion.js';
import { WorkQueue } from './work-queue.js';

export abstract class ConnectionQueues implements WaitOwner, OperationOwner {
  abstract readonly slot: number;
  abstract readonly generation: number;
  readonly host: ConnectionHost;
  readonly sends: WorkQueue;
  readonly receives: ReceiveQueue;
  /** Told of the completions of each drain; nothing is collected while it is not set. */
  onCompletions: ((completions: WorkCompletion[]) => void) | undefined;
  /** Why the connection ends, as soon as it is known. */
  protected cause: RdmaError | undefined;
  /** Flushed, and told so only when the cause is known. */
  #flushed: Wait[] = [];
  #collected: WorkCompletion[] = [];
  #onSendsIdle: (() => void)[] = [];

  constructor(host: ConnectionHost, depths: ConnectionDepths) {
    this.host = host;
    this.sends = new WorkQueue(host, depths.sendDepth, depths.maxQueued);
    this.receives = new ReceiveQueue(host, depths.receiveDepth, depths.maxQueued);
  }

  /** Before anything is posted. */
  setDepths(depths: ConnectionDepths): void {
    this.sends.setDepth(depths.sendDepth, depths.maxQueued);
    this.receives.setDepth(depths.receiveDepth, depths.maxQueued);
  }

  protected abstract get acceptsSends(): boolean;
  protected abstract get acceptsReceives(): boolean;
  /** Whether it is known by now why work is flushed. */
  protected abstract get endIsKnown(): boolean;
  protected abstract get isClosing(): boolean;
  /** Why work is refused now. */
  protected abstract endError(): RdmaError;
  /** Whether this is an error that endError() made. */
  protected abstract isEnd(error: unknown): boolean;
  /** What is known of the two ends, for errors. */
  protected abstract addresses(): RdmaErrorDetails;
  protected abstract updateKeepAlive(): void;

  get timers(): ConnectionHost['timers'] {
    return this.host.timers;
  }

  /** The engine read this operation's completion record. */
  completed(operation: Operation, record: CompletionRecord): void {
    const isReceive = operation.opcode === Opcode.receive;
    const completion = this.#completionOf(operation, record);
    const { wait, settle } = operation;
    this.retire(operation);
    if (isReceive) this.#receiveEnded(wait, completion, record);
    else this.#sendEnded(wait, completion, record);
    settle?.(completion);
    if (this.onCompletions !== undefined) this.#collect(completion);
    const succeeded = record.status === Status.success;
    if (isReceive) this.receives.completed(succeeded);
    else this.#sendCompleted(succeeded);
  }

  /** The drain is over: hands on what it completed. */
  handOverCompletions(): void {
    const completions = this.#collected;
    this.#collected = [];
    this.onCompletions?.(completions);
  }

  abandon(wait: Wait): boolean {
    const { operation } = wait;
    if (wait.name === 'receive') this.receives.leave(wait);
    else if (operation === undefined)
      this.#flushed = this.#flushed.filter((other) => other !== wait);
    if (operation?.state !== 'waiting') return false;
    this.#queueOf(operation).remove(operation);
    this.retire(operation);
    this.#afterSends();
    return true;
  }

  /** Resolves when no send is posted or waiting. */
  protected sendsIdle(): Promise<void> {
    if (this.sends.outstanding === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onSendsIdle.push(resolve));
  }

  /** Receives that wait for a place in the queue will not be posted any more. */
  protected refuseWaitingReceives(error: RdmaError): void {
    for (let next = this.receives.shift(); next !== undefined; next = this.receives.shift()) {
      const { wait } = next;
      this.retire(next);
      if (wait !== undefined) {
        this.receives.leave(wait);
        wait.fail(error, true);
      }
    }
  }

  /** Nothing that waits for a place in a queue will be posted any more. */
  protected refuseWaiting(error: RdmaError): void {
    this.refuseWaitingReceives(error);
    for (let next = this.sends.shift(); next !== undefined; next = this.sends.shift()) {
      const { wait } = next;
      this.retire(next);
      wait?.fail(error, true);
    }
  }

  /** Nothing will be posted or completed any more: everything that waits is told why. */
  protected failAll(error: RdmaError): void {
    this.refuseWaiting(error);
    const flushed = this.#flushed;
    this.#flushed = [];
    for (const wait of flushed) wait.fail(error, true);
    this.receives.refuseAll(error);
    this.sends.releaseWaiters();
    this.receives.releaseWaiters();
  }

  /** Work that native code will never complete: its memory stays in use, its callers are told. */
  protected failPosted(error: RdmaError): void {
    for (const operation of this.host.pending.values()) {
      if (operation.connection !== this) continue;
      const { wait, settle, name } = operation;
      wait?.fail(error, true);
      settle?.(new WorkCompletion(name, 'unknown', 0, undefined, 0, undefined, undefined));
      operation.settle = undefined;
    }
  }

  #collect(completion: WorkCompletion): void {
    if (this.#collected.length === 0) this.host.afterDrain(this);
    this.#collected.push(completion);
  }

  #queueOf(operation: Operation): WorkQueue {
    return operation.opcode === Opcode.receive ? this.receives : this.sends;
  }

  #completionOf(operation: Operation, record: CompletionRecord): WorkCompletion {
    const isReceive = operation.opcode === Opcode.receive;
    const succeeded = record.status === Status.success;
    return new WorkCompletion(
      operation.name,
      statusName(record.status),
      isReceive || !succeeded ? record.byteLength : operation.byteLength,
      (record.flags & WorkFlag.immediate) === 0 ? undefined : record.immediate,
      succeeded ? 0 : record.vendorError,
      isReceive ? operation.first : undefined,
      isReceive ? operation.more : undefined,
    );
  }

  /** The operation is over: its memory and the object itself are free again. */
  protected retire(operation: Operation): void {
    operation.releaseSegments();
    if (operation.wait !== undefined) operation.wait.operation = undefined;
    this.host.operations.give(operation);
  }

  #sendEnded(wait: Wait | undefined, completion: WorkCompletion, record: CompletionRecord): void {
    if (record.status === Status.success) {
      wait?.settle(completion);
    } else if (record.status === Status.flushed && !this.endIsKnown) {
      if (wait === undefined) return;
      wait.ownCompletion = completion;
      this.#flushed.push(wait);
    } else {
      const error = this.#workError(completion, record);
      wait?.fail(error, true);
    }
  }

  #receiveEnded(
    wait: Wait | undefined,
    completion: WorkCompletion,
    record: CompletionRecord,
  ): void {
    if (wait !== undefined) wait.ownCompletion = completion;
    if (record.status === Status.success) {
      this.receives.deliver(completion);
    } else if (record.status !== Status.flushed) {
      this.receives.refuse(this.#workError(completion, record));
    } else if (this.endIsKnown) {
      this.receives.refuse(this.endError());
    }
  }

  /** The first failure of a work request is what ends the connection. */
  #workError(completion: WorkCompletion, record: CompletionRecord): RdmaError {
    if (record.status === Status.flushed) return this.endError();
    const error = errorFromStatus(
      completion.operation,
      record.status,
      record.vendorError,
      this.addresses(),
    );
    this.cause ??= error;
    return error;
  }

  #sendCompleted(succeeded: boolean): void {
    this.sends.completed(succeeded);
    this.#afterSends();
  }

  /** There are fewer sends than before. */
  #afterSends(): void {
    this.updateKeepAlive();
    if (this.sends.outstanding > 0 || this.#onSendsIdle.length === 0) return;
    const callbacks = this.#onSendsIdle;
    this.#onSendsIdle = [];
    for (const callback of callbacks) callback();
  }
}
