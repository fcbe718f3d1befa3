// What an operation resolves with: one small object, its parts made only when asked for.
import type { MemorySlice } from './memory-region.js';
import type { CompletionStatus } from './status.js';

export type OperationName =
  | 'send'
  | 'receive'
  | 'read'
  | 'write'
  | 'fetchAdd'
  | 'compareSwap'
  | 'flush';

/** The end of one operation. */
export class WorkCompletion {
  readonly operation: OperationName;
  /** `success`, or why not; `not-posted` when the operation was removed before it was posted. */
  readonly status: CompletionStatus;
  /** Bytes sent or received. */
  readonly byteLength: number;
  /** The 32-bit value that came with the message, 0 to 2^32 - 1. */
  readonly immediate: number | undefined;
  /** The provider's own error number, 0 when there is none. */
  readonly vendorError: number;
  readonly #first: MemorySlice | undefined;
  readonly #more: readonly MemorySlice[] | undefined;

  constructor(
    operation: OperationName,
    status: CompletionStatus,
    byteLength: number,
    immediate: number | undefined,
    vendorError: number,
    first: MemorySlice | undefined,
    more: readonly MemorySlice[] | undefined,
  ) {
    this.operation = operation;
    this.status = status;
    this.byteLength = byteLength;
    this.immediate = immediate;
    this.vendorError = vendorError;
    this.#first = first;
    this.#more = more;
  }

  /** Receives: the slices as they were posted. */
  get slices(): readonly MemorySlice[] {
    if (this.#first === undefined) return [];
    return this.#more === undefined ? [this.#first] : [this.#first, ...this.#more];
  }

  /**
   * Receives: the message, when it was received into one slice; with several slices, the part of it
   * that lies in the first. Aliases the region.
   */
  get bytes(): Uint8Array<SharedArrayBuffer> {
    const first = this.#first;
    if (first === undefined) return new Uint8Array(new SharedArrayBuffer(0));
    return first.subarray(0, Math.min(this.byteLength, first.byteLength)).bytes;
  }
}
