// The one error class of the library, its codes, and how native failures become errors.
import { getSystemErrorName } from 'node:util';
import type { Address } from './address.js';
import type { NativeFailure } from './native.js';
import {
  type CompletionStatus,
  Fault,
  Status,
  statusCode,
  statusHint,
  statusName,
} from './status.js';
import type { WorkCompletion } from './work-completion.js';

/** Codes that are not completion statuses; those are `ERR_RDMA_WC_*`. */
export type RdmaErrorCode =
  | 'ERR_RDMA_INVALID_ARG'
  | 'ERR_RDMA_INVALID_STATE'
  | 'ERR_RDMA_OUT_OF_BOUNDS'
  | 'ERR_RDMA_NOT_REGISTERED'
  | 'ERR_RDMA_RESIZABLE_BUFFER'
  | 'ERR_RDMA_TOO_LARGE_FOR_VIEW'
  | 'ERR_RDMA_UNSUPPORTED'
  | 'ERR_RDMA_UNSUPPORTED_PLATFORM'
  | 'ERR_RDMA_ADDON_LOAD'
  | 'ERR_RDMA_NO_DEVICE'
  | 'ERR_RDMA_OUT_OF_RESOURCES'
  | 'ERR_RDMA_QUEUE_FULL'
  | 'ERR_RDMA_ADDR_UNRESOLVED'
  | 'ERR_RDMA_ADDRESS_IN_USE'
  | 'ERR_RDMA_ADDRESS_NOT_LOCAL'
  | 'ERR_RDMA_UNREACHABLE'
  | 'ERR_RDMA_REJECTED'
  | 'ERR_RDMA_PERMISSION'
  | 'ERR_RDMA_PROTOCOL'
  | 'ERR_RDMA_TIMEOUT'
  | 'ERR_RDMA_DISCONNECTED'
  | 'ERR_RDMA_CLOSED'
  | 'ERR_RDMA_POLLER_EXITED'
  | 'ERR_RDMA_LAYOUT_MISMATCH'
  | 'ERR_RDMA_DRAIN_TIMEOUT'
  | 'ERR_RDMA_INTERNAL'
  | `ERR_RDMA_WC_${string}`;

export interface RdmaErrorDetails {
  /** The method or step that failed: `connect`, `send`, … */
  readonly operation?: string | undefined;
  readonly status?: CompletionStatus | undefined;
  readonly vendorError?: number | undefined;
  readonly localAddress?: Address | undefined;
  readonly remoteAddress?: Address | undefined;
  /** Name of the system error, `ENOMEM` for one. */
  readonly systemError?: string | undefined;
  /** What the peer sent along with its reject. */
  readonly privateData?: Uint8Array | undefined;
  readonly settled?: Promise<WorkCompletion> | undefined;
  readonly cause?: unknown;
}

const kBrand = Symbol.for('queuepair.RdmaError');

/**
 * Every error of this library except aborts. Match on `code`; the last sentence of the message says
 * what to do.
 */
export class RdmaError extends Error {
  readonly code: RdmaErrorCode;
  // Declared, not defined: what is not known is not there, also when the error is printed.
  /** What failed: `connect`, `send`, … */
  declare readonly operation?: string;
  /** The completion status, when a work request failed. */
  declare readonly status?: CompletionStatus;
  declare readonly vendorError?: number;
  declare readonly localAddress?: Address;
  declare readonly remoteAddress?: Address;
  /** Name of the system error, `ENOMEM` for one. */
  declare readonly systemError?: string;
  /** With `ERR_RDMA_REJECTED`: the private data of the reject. */
  declare readonly privateData?: Uint8Array;
  /**
   * With `ERR_RDMA_TIMEOUT` of an operation: resolves, and never rejects, when the operation's memory
   * is free again.
   */
  declare readonly settled?: Promise<WorkCompletion>;

  constructor(code: RdmaErrorCode, message: string, details: RdmaErrorDetails = {}) {
    const { cause, ...known } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    for (const [name, value] of Object.entries(known)) {
      if (value !== undefined) Object.assign(this, { [name]: value });
    }
    Object.defineProperty(this, kBrand, { value: true });
    Object.defineProperty(this, 'name', { value: 'RdmaError', writable: true, configurable: true });
  }
}

/** True for errors of any copy of this package in the process; subclasses are asked as usual. */
function isRdmaError(this: unknown, value: unknown): boolean {
  if (this !== RdmaError) return Function.prototype[Symbol.hasInstance].call(this, value);
  return typeof value === 'object' && value !== null && kBrand in value;
}
Object.defineProperty(RdmaError, Symbol.hasInstance, { value: isRdmaError });

/** What an aborted wait rejects with; `cause` is the signal's reason. */
export class AbortError extends Error {
  readonly code = 'ABORT_ERR';
  readonly operation: string;
  /** Resolves, and never rejects, when the operation's memory is free again. */
  readonly settled: Promise<WorkCompletion> | undefined;

  constructor(operation: string, reason: unknown, settled?: Promise<WorkCompletion>) {
    const hint =
      settled === undefined
        ? 'error.cause is the reason of its signal.'
        : 'Await error.settled before using its memory again.';
    super(`${operation} was aborted. ${hint}`, { cause: reason });
    this.name = 'AbortError';
    this.operation = operation;
    this.settled = settled;
  }
}

export function invalidArgument(message: string, operation?: string): RdmaError {
  return new RdmaError('ERR_RDMA_INVALID_ARG', message, { operation });
}

const faults: Readonly<Record<number, readonly [code: RdmaErrorCode, text: string, hint: string]>> =
  {
    [Fault.invalidArgument]: ['ERR_RDMA_INVALID_ARG', 'an argument was refused', 'Correct it.'],
    [Fault.invalidState]: [
      'ERR_RDMA_INVALID_STATE',
      'the object is in another state',
      'Look at its state first.',
    ],
    [Fault.addressInUse]: [
      'ERR_RDMA_ADDRESS_IN_USE',
      'the port is in use',
      'Choose another port, or 0 for a free one; ports are not shared between cluster workers.',
    ],
    [Fault.addressNotLocal]: [
      'ERR_RDMA_ADDRESS_NOT_LOCAL',
      'the address is not one of this host',
      'Use an address of this host, or a provider that reaches other hosts.',
    ],
    [Fault.unreachable]: [
      'ERR_RDMA_UNREACHABLE',
      'nobody listens there',
      'Start the listener first and check its port.',
    ],
    [Fault.rejected]: [
      'ERR_RDMA_REJECTED',
      'the peer rejected the connection',
      'error.privateData may say why.',
    ],
    [Fault.peerClosed]: [
      'ERR_RDMA_DISCONNECTED',
      'the peer closed the connection',
      'Connect again if there is more to do.',
    ],
    [Fault.peerLost]: [
      'ERR_RDMA_DISCONNECTED',
      'the peer went away without closing the connection',
      'Check that its process still runs, then connect again.',
    ],
    [Fault.protocol]: [
      'ERR_RDMA_PROTOCOL',
      'the peer does not speak this protocol',
      'Check that the peer is a queuepair engine of the same version.',
    ],
    [Fault.permission]: [
      'ERR_RDMA_PERMISSION',
      'the peer runs as another user',
      'Run both processes as the same user.',
    ],
    [Fault.outOfResources]: [
      'ERR_RDMA_OUT_OF_RESOURCES',
      'the system has no more of what this needs',
      'Close what is no longer used, or raise the limit (ulimit -n, memory).',
    ],
    [Fault.unsupported]: [
      'ERR_RDMA_UNSUPPORTED',
      'the provider cannot do this',
      'Look at listProviders() for what it can.',
    ],
    [Fault.closedLocally]: [
      'ERR_RDMA_CLOSED',
      'it was closed on this side',
      'Open another one if there is more to do.',
    ],
    [Fault.internal]: [
      'ERR_RDMA_INTERNAL',
      'an internal check failed',
      'Report this with the message.',
    ],
    [Fault.backlogFull]: [
      'ERR_RDMA_REJECTED',
      "the listener's backlog of unanswered requests is full",
      'Retry later, or raise backlog at the listener.',
    ],
  };

const kUnknownFault = [
  'ERR_RDMA_INTERNAL',
  'native code reported something unknown',
  'Report this with the message.',
] as const;

function systemErrorName(osError: number): string | undefined {
  return osError > 0 ? getSystemErrorName(-osError) : undefined;
}

/** The error for a failed control call or an ended connection. */
export function errorFromFailure(
  operation: string,
  failure: NativeFailure,
  details: RdmaErrorDetails = {},
): RdmaError {
  if (failure.fault === Fault.operationFailed) {
    return errorFromStatus(operation, failure.status, 0, details);
  }
  const [code, text, hint] = faults[failure.fault] ?? kUnknownFault;
  const systemError = systemErrorName(failure.osError);
  const detail = failure.detail === text ? '' : failure.detail;
  const extra = [detail, systemError].filter(Boolean).join(', ');
  const message = `${operation}: ${text}${extra === '' ? '' : ` (${extra})`}. ${hint}`;
  return new RdmaError(code, message, { operation, systemError, ...details });
}

export function tableFull(operation: string): RdmaError {
  return errorFromFailure(operation, {
    fault: Fault.outOfResources,
    osError: 0,
    status: Status.success,
    detail: 'the table of native objects is full',
  });
}

/** The error for a work request that completed with `status`. */
export function errorFromStatus(
  operation: string,
  status: number,
  vendorError: number,
  details: RdmaErrorDetails = {},
): RdmaError {
  const name = statusName(status);
  return new RdmaError(
    statusCode(status) as RdmaErrorCode,
    `${operation} completed with status ${name}. ${statusHint(status)}`,
    { operation, status: name, vendorError, ...details },
  );
}
