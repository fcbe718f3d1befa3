// The options of operations, and the operations of a batch, as programs give them.
import { invalidArgument } from './errors.js';
import { throwIfAborted, type WaitOptions } from './limit.js';
import { checkImmediate, type ReceiveTarget, type SendSource } from './segments.js';
import { abortSignal, boolean, integer, kTimeoutRange, readOptions } from './validate.js';

export interface OperationOptions extends WaitOptions {
  /** Ends the wait, not the work: see `AbortError.settled`. */
  readonly signal?: AbortSignal | undefined;
  /** 1 to 2^31 - 1; without it the operation waits as long as the connection lives. */
  readonly timeoutMs?: number | undefined;
}

export interface SendOptions extends OperationOptions {
  /** 0 to 2^32 - 1; the receiver gets it with the message. */
  readonly immediate?: number | undefined;
  /**
   * `false`: nobody is told when it completes; the promise resolves when it is queued. Its failure
   * ends the connection and rejects `flush()` and every later call.
   */
  readonly signaled?: boolean | undefined;
}

export interface SendRequest {
  readonly operation: 'send';
  readonly source: SendSource;
  readonly immediate?: number | undefined;
}

export interface ReceiveRequest {
  readonly operation: 'receive';
  readonly target: ReceiveTarget;
}

/** One operation of a batch. */
export type PostRequest = SendRequest | ReceiveRequest;

const kOperationKeys = ['signal', 'timeoutMs'] as const;
const kSendKeys = ['immediate', 'signaled', 'signal', 'timeoutMs'] as const;
/** Nothing but its end ends the wait. */
export const kNoLimit: WaitOptions = {};

/** What limits the wait; kNoLimit when nothing does. */
export function checkOperationOptions(
  operation: string,
  options: OperationOptions | undefined,
): WaitOptions {
  return options === undefined ? kNoLimit : readLimit(operation, options, kOperationKeys);
}

function readLimit<T extends OperationOptions>(
  operation: string,
  options: T,
  known: readonly (keyof T & string)[],
): WaitOptions {
  const { signal, timeoutMs } = readOptions(operation, options, known);
  abortSignal(`${operation}: signal`, signal);
  if (timeoutMs !== undefined) integer(`${operation}: timeoutMs`, timeoutMs, kTimeoutRange);
  throwIfAborted(operation, signal);
  return signal === undefined && timeoutMs === undefined ? kNoLimit : { signal, timeoutMs };
}

export function checkSendOptions(operation: string, options: SendOptions | undefined): WaitOptions {
  if (options === undefined) return kNoLimit;
  const limit = readLimit(operation, options, kSendKeys);
  checkImmediate(operation, options.immediate);
  const signaled = boolean(`${operation}: signaled`, options.signaled, true);
  if (!signaled && limit !== kNoLimit) {
    throw invalidArgument(
      `${operation}: nobody waits for an unsignalled operation, so it takes neither signal nor ` +
        'timeoutMs. Give them to what you await.',
      operation,
    );
  }
  return limit;
}
