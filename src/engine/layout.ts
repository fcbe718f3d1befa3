// Mirror of native/core/layout.h, control.h, work.h, fault.h and region.h: offsets in bytes, as there.
// A test compares every number with what the addon reports.

// Words of different writers lie 128 bytes apart, see kSpan there.
export const layout = {
  magic: 0x71706c31,
  version: 1,
  magicAt: 0,
  versionAt: 4,
  laneIndexAt: 8,
  submissionCapacityAt: 12,
  completionCapacityAt: 16,
  submissionRingAt: 20,
  completionRingAt: 24,
  // Writer: owner.
  submissionTailAt: 128,
  completionHeadAt: 256,
  ownerArmedAt: 384,
  ownerWantsSpaceAt: 388,
  stopAt: 392,
  // Writer: step.
  submissionHeadAt: 512,
  completionTailAt: 640,
  eventsPostedAt: 768,
  // The progress token.
  tokenAt: 896,
  againAt: 960,
  // Writer: poller.
  pollerParkedAt: 1024,
  pollerStateAt: 1028,
  stepCountersAt: 1152,
  pollerCountersAt: 1536,
  headerBytes: 1664,
  submissionBytes: 192,
  completionBytes: 32,
} as const;

/** Byte offsets in a submission record. */
export const submission = {
  opcodeAt: 0,
  flagsAt: 1,
  segmentCountAt: 2,
  laneAt: 3,
  connectionSlotAt: 4,
  connectionGenerationAt: 8,
  operationSlotAt: 12,
  operationGenerationAt: 16,
  immediateAt: 20,
  segmentBytes: 24,
  segmentAt: [24, 80, 104, 128],
  remoteSlotAt: 48,
  remoteGenerationAt: 52,
  remoteOffsetAt: 56,
  operandAt: 64,
  swapAt: 72,
} as const;

/** Byte offsets in a completion record. */
export const completion = {
  operationSlotAt: 0,
  operationGenerationAt: 4,
  statusAt: 8,
  flagsAt: 9,
  opcodeAt: 10,
  laneAt: 11,
  immediateAt: 12,
  byteLengthAt: 16,
  resultAt: 24,
} as const;

export const Opcode = {
  send: 1,
  receive: 2,
  read: 3,
  write: 4,
  fetchAdd: 5,
  compareSwap: 6,
  flush: 7,
} as const;
export type Opcode = (typeof Opcode)[keyof typeof Opcode];

export const WorkFlag = { signaled: 1, immediate: 2 } as const;

export const ControlKind = {
  listen: 1,
  closeListener: 2,
  connect: 3,
  accept: 4,
  reject: 5,
  disconnect: 6,
  destroy: 7,
  flushReceives: 8,
  releaseRegion: 9,
} as const;

export const EventKind = {
  listening: 1,
  listenerClosed: 2,
  connectionRequest: 3,
  established: 4,
  disconnected: 5,
  destroyed: 6,
  regionReleased: 7,
} as const;

export const AccessBit = { 'remote-read': 1, 'remote-write': 2, 'remote-atomic': 4 } as const;

export const FaultPoint = {
  completionDelay: 0,
  completionStatus: 1,
  postAgain: 2,
  registrationFails: 3,
  ownerWakeSwallowed: 4,
  pollerWakeSwallowed: 5,
  stepStalls: 6,
  peerRecordCorrupted: 7,
} as const;

export const PollingMode = { adaptive: 0, spin: 1, event: 2 } as const;
export type PollingMode = keyof typeof PollingMode;

/** Order of the 64-bit counters that the step role writes; `completionsByStatus` begins a run. */
export const StepCounter = {
  postsSend: 0,
  postsReceive: 1,
  postsRead: 2,
  postsWrite: 3,
  postsAtomic: 4,
  bytesSent: 5,
  bytesReceived: 6,
  bytesRead: 7,
  bytesWritten: 8,
  ownerWakes: 9,
  postAgain: 10,
  recordsRefused: 11,
  completionsByStatus: 12,
} as const;

/** Order of the 64-bit counters that the poller writes. */
export const PollerCounter = { steps: 0, idleSteps: 1, parks: 2, parkTimeouts: 3 } as const;
