// Posting work on a connection. Numbers and pooled objects only; the promise and its completion are all
// that an operation makes.
import { Batch } from './batch.js';
import { ConnectionQueues } from './connection-queues.js';
import { invalidArgument, RdmaError } from './errors.js';
import { Opcode, WorkFlag } from './layout.js';
import type { WaitOptions } from './limit.js';
import { MemorySlice } from './memory-region.js';
import type { Operation } from './operation.js';
import {
  checkOperationOptions,
  checkSendOptions,
  kNoLimit,
  type OperationOptions,
  type PostRequest,
  type SendOptions,
} from './operation-options.js';
import {
  checkImmediate,
  type Parts,
  type ReceiveTarget,
  readParts,
  type SendSource,
} from './segments.js';
import { SendCopy } from './send-buffers.js';
import { readOptions } from './validate.js';
import { markHandled, takeWait } from './wait.js';
import type { WorkCompletion } from './work-completion.js';
import type { WorkQueue } from './work-queue.js';

const kSendRequestKeys = ['operation', 'source', 'immediate'] as const;
const kReceiveRequestKeys = ['operation', 'target'] as const;
const kQueued: Promise<undefined> = Promise.resolve(undefined);

export abstract class ConnectionWork extends ConnectionQueues {
  send(source: SendSource, options?: SendOptions): Promise<WorkCompletion | undefined> {
    try {
      const limit = checkSendOptions('send', options);
      this.#checkSend('send', 1);
      const operation = this.#makeSend('send', source, options?.immediate);
      if (options?.signaled === false) {
        this.#submit(this.sends, operation);
        return kQueued;
      }
      const promise = this.#startWait(operation, limit);
      this.#submit(this.sends, operation);
      return promise;
    } catch (error) {
      return this.#refused(error);
    }
  }

  receive(target?: ReceiveTarget, options?: OperationOptions): Promise<WorkCompletion> {
    try {
      const limit = checkOperationOptions('receive', options);
      const operation = this.#makeReceive(target);
      const wait = takeWait();
      const promise = wait.start(this, 'receive');
      wait.operation = operation;
      if (operation !== undefined) {
        operation.wait = wait;
        this.#submit(this.receives, operation);
      }
      if (limit !== kNoLimit) wait.limit(limit);
      this.receives.wait(wait);
      return promise;
    } catch (error) {
      return this.#refused(error);
    }
  }

  /** Posts a receive that nobody waits for yet: a later receive() gets its message. */
  prepost(target: ReceiveTarget): void {
    const parts = readParts('receives', this.host, target, false);
    this.receives.checkRoom('receives', 1);
    this.#submit(this.receives, this.#make(Opcode.receive, parts));
  }

  /** All or none are posted; one doorbell, one promise. */
  post(requests: readonly PostRequest[], options?: OperationOptions): Promise<WorkCompletion[]> {
    try {
      const limit = checkOperationOptions('post', options);
      if (!this.acceptsSends) throw this.endError();
      const operations = this.#makeBatch(requests);
      const batch = new Batch(operations.length);
      for (const [index, operation] of operations.entries()) {
        this.#postOne(operation, batch, index);
      }
      this.host.publish();
      if (limit !== kNoLimit) batch.limit(this.timers, limit);
      return batch.promise;
    } catch (error) {
      return this.#refused(error);
    }
  }

  /** Resolves when every send posted so far has completed, unsignalled ones included. */
  flush(): Promise<void> {
    if (this.cause !== undefined) return this.#refused(this.cause);
    if (this.sends.outstanding === 0) return kQueued;
    if (!this.acceptsSends && !this.isClosing) return this.#refused(this.endError());
    try {
      this.sends.checkRoom('flush', 1);
    } catch (error) {
      return this.#refused(error);
    }
    const operation = this.host.operations.take(this, Opcode.flush);
    const promise = this.#startWait(operation, kNoLimit);
    this.#submit(this.sends, operation);
    const flushed = promise.then(() => undefined);
    markHandled(flushed); // only the connection's end rejects it
    return flushed;
  }

  /** Resolves when both queues take more; rejects when the connection ended. */
  ready(): Promise<void> {
    const ready = this.#untilRoom();
    markHandled(ready); // only the connection's end rejects it
    return ready;
  }

  async #untilRoom(): Promise<void> {
    while (this.acceptsSends && !(this.sends.hasRoom && this.receives.hasRoom)) {
      await this.sends.whenRoom();
      await this.receives.whenRoom();
    }
    if (!this.acceptsSends) throw this.endError();
  }

  #makeSend(name: string, source: SendSource, immediate: number | undefined): Operation {
    checkImmediate(name, immediate);
    const parts = readParts(name, this.host, source, true);
    const byteLength = Array.isArray(parts)
      ? parts.reduce((sum: number, part: { byteLength: number }) => sum + part.byteLength, 0)
      : (parts as MemorySlice | Uint8Array).byteLength;
    const { maxMessageBytes } = this.host.limits;
    if (byteLength > maxMessageBytes) {
      throw new RdmaError(
        'ERR_RDMA_OUT_OF_BOUNDS',
        `${name}: ${byteLength} bytes are more than one message carries (${maxMessageBytes}). ` +
          'Send it in parts.',
        { operation: name },
      );
    }
    const operation = this.#make(Opcode.send, parts);
    operation.setImmediate(immediate);
    return operation;
  }

  /** `undefined`: no slice was given, or none is needed because a message is already here. */
  #makeReceive(target: ReceiveTarget | undefined): Operation | undefined {
    const parts = target === undefined ? undefined : readParts('receive', this.host, target, false);
    if (!this.acceptsReceives) {
      if (this.receives.unclaimed > 0) return undefined;
      throw this.endError();
    }
    if (parts === undefined) {
      if (this.receives.promisesMore) return undefined;
      throw new RdmaError(
        'ERR_RDMA_INVALID_STATE',
        'receive: no posted receive is left to wait for. Pass a slice to receive into.',
        { operation: 'receive' },
      );
    }
    this.receives.checkRoom('receive', 1);
    return this.#make(Opcode.receive, parts);
  }

  /** What is refused because the connection ended is marked as handled: its end is told elsewhere. */
  #refused(error: unknown): Promise<never> {
    const refused = Promise.reject(error);
    if (this.isEnd(error)) markHandled(refused);
    return refused;
  }

  #checkSend(operation: string, count: number): void {
    if (!this.acceptsSends) throw this.endError();
    this.sends.checkRoom(operation, count);
  }

  /** All of the batch's operations, or an error and none. */
  #makeBatch(requests: readonly PostRequest[]): Operation[] {
    if (!Array.isArray(requests) || requests.length === 0) {
      throw invalidArgument('post takes a non-empty array of operations.', 'post');
    }
    const operations: Operation[] = [];
    try {
      for (const request of requests) operations.push(this.#makeRequest(request));
      const sends = operations.filter(({ opcode }) => opcode === Opcode.send).length;
      this.sends.checkRoom('post', sends);
      this.receives.checkRoom('post', operations.length - sends);
    } catch (error) {
      for (const operation of operations) this.retire(operation);
      throw error;
    }
    return operations;
  }

  #makeRequest(request: PostRequest): Operation {
    switch (request?.operation) {
      case 'send': {
        const { source, immediate } = readOptions('post', request, kSendRequestKeys);
        return this.#makeSend('post', source, immediate);
      }
      case 'receive': {
        const { target } = readOptions('post', request, kReceiveRequestKeys);
        return this.#make(Opcode.receive, readParts('post', this.host, target, false));
      }
      default:
        throw invalidArgument("post: each operation is a 'send' or a 'receive'.", 'post');
    }
  }

  #postOne(operation: Operation, batch: Batch, index: number): void {
    const wait = takeWait();
    const isSend = operation.opcode === Opcode.send;
    wait.startInBatch(this, operation.name, batch, index);
    operation.flags |= WorkFlag.signaled;
    operation.wait = wait;
    wait.operation = operation;
    if (isSend) {
      this.sends.submit(operation);
      this.updateKeepAlive();
    } else {
      this.receives.submit(operation);
      this.receives.wait(wait);
    }
  }

  /** `parts` were checked. One slice is the usual case, and makes no array. */
  #make(opcode: Opcode, parts: Parts): Operation {
    if (parts instanceof MemorySlice) {
      const operation = this.host.operations.take(this, opcode);
      operation.setSegments(parts, undefined);
      return operation;
    }
    const slices = this.#toSlices(Array.isArray(parts) ? parts : [parts]);
    const operation = this.host.operations.take(this, opcode);
    operation.copies = this.host.sendBuffers;
    operation.setSegments(slices[0], slices.length > 1 ? slices.slice(1) : undefined);
    return operation;
  }

  /** Byte arrays become copies. */
  #toSlices(parts: readonly (MemorySlice | Uint8Array)[]): MemorySlice[] {
    const { sendBuffers } = this.host;
    const slices: MemorySlice[] = [];
    try {
      for (const part of parts) {
        slices.push(part instanceof MemorySlice ? part : sendBuffers.copy(part));
      }
    } catch (error) {
      for (const slice of slices) if (slice instanceof SendCopy) sendBuffers.release(slice);
      throw error;
    }
    return slices;
  }

  #startWait(operation: Operation, limit: WaitOptions): Promise<WorkCompletion> {
    const wait = takeWait();
    const promise = wait.start(this, operation.name);
    wait.operation = operation;
    operation.wait = wait;
    operation.flags |= WorkFlag.signaled;
    if (limit !== kNoLimit) wait.limit(limit);
    return promise;
  }

  #submit(queue: WorkQueue, operation: Operation): void {
    queue.submit(operation);
    this.host.publish();
    if (queue === this.sends) this.updateKeepAlive();
  }
}
