// Mirror of native/core/status.h, and the one place where native numbers become error codes.

/** How a work request ended; the names of the verbs statuses, spelt out. */
export const completionStatuses = [
  'success',
  'local-length',
  'local-queue-pair-operation',
  'local-end-to-end-context',
  'local-protection',
  'flushed',
  'memory-window-bind',
  'bad-response',
  'local-access',
  'remote-invalid-request',
  'remote-access',
  'remote-operation',
  'retry-exceeded',
  'receiver-not-ready-retry-exceeded',
  'local-reliable-datagram-domain',
  'remote-invalid-reliable-datagram',
  'remote-abort',
  'invalid-end-to-end-context',
  'invalid-end-to-end-context-state',
  'fatal',
  'response-timeout',
  'general',
] as const;

/**
 * A completion status, or `not-posted` for an operation that was removed before it was posted, or
 * `unknown` for a number that this version does not know.
 */
export type CompletionStatus = (typeof completionStatuses)[number] | 'not-posted' | 'unknown';

export const Status = { success: 0, localLength: 1, flushed: 5 } as const;

const statusCodes = [
  '',
  'LOC_LEN',
  'LOC_QP_OP',
  'LOC_EEC_OP',
  'LOC_PROT',
  'WR_FLUSH',
  'MW_BIND',
  'BAD_RESP',
  'LOC_ACCESS',
  'REM_INV_REQ',
  'REM_ACCESS',
  'REM_OP',
  'RETRY_EXC',
  'RNR_RETRY_EXC',
  'LOC_RDD_VIOL',
  'REM_INV_RD_REQ',
  'REM_ABORT',
  'INV_EECN',
  'INV_EEC_STATE',
  'FATAL',
  'RESP_TIMEOUT',
  'GENERAL',
] as const;

const statusHints: readonly string[] = [
  '',
  'Post a receive at least as long as the longest message.',
  'Check the operation against the limits in listProviders().',
  'Report this with the vendor error.',
  'Use slices of open regions of this engine.',
  'Look at connection.closed for the cause.',
  'Report this with the vendor error.',
  'Report this with the vendor error.',
  'Register the region with the access that the operation needs.',
  'The peer posted a receive that is shorter than the message; agree on a message size.',
  'Ask the peer for a fresh key of a region with the right access.',
  'Look at the peer for the cause.',
  'The peer does not answer: check that it runs and that the route to it works.',
  'The peer posts no receives: post them before it is sent to.',
  'Report this with the vendor error.',
  'Report this with the vendor error.',
  'Look at the peer for the cause.',
  'Report this with the vendor error.',
  'Report this with the vendor error.',
  'Close the engine and open it again.',
  'The peer does not answer: check that it runs and that the route to it works.',
  'Report this with the vendor error.',
];

export function statusName(status: number): CompletionStatus {
  return completionStatuses[status] ?? 'unknown';
}

export function statusCode(status: number): string {
  return `ERR_RDMA_WC_${statusCodes[status] ?? 'UNKNOWN'}`;
}

export function statusHint(status: number): string {
  return statusHints[status] ?? 'Report this with the vendor error.';
}

export const Fault = {
  none: 0,
  invalidArgument: 1,
  invalidState: 2,
  addressInUse: 3,
  addressNotLocal: 4,
  unreachable: 5,
  rejected: 6,
  peerClosed: 7,
  peerLost: 8,
  protocol: 9,
  permission: 10,
  outOfResources: 11,
  unsupported: 12,
  operationFailed: 13,
  closedLocally: 14,
  internal: 15,
  backlogFull: 16,
} as const;
