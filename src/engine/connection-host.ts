// What a connection and a listener need of their engine.

import type { KeepAlive } from './keep-alive.js';
import type { RegionHost } from './memory-region.js';
import type { NativeControl, NativeLimits } from './native.js';
import type { OperationPool } from './operation.js';
import type { SendBuffers } from './send-buffers.js';
import type { TimerWheel } from './timer-wheel.js';
import type { Submitter } from './work-queue.js';

export interface ConnectionHost extends Submitter, RegionHost {
  readonly limits: NativeLimits;
  readonly operations: OperationPool;
  readonly sendBuffers: SendBuffers;
  readonly timers: TimerWheel;
  readonly keepAlive: KeepAlive;
  control(request: NativeControl): void;
  /** Makes what was written to the submission ring visible, and wakes the poller if it is parked. */
  publish(): void;
  /** Calls `connection.handOverCompletions()` at the end of this drain. */
  afterDrain(connection: { handOverCompletions(): void }): void;
}

export interface ConnectionDepths {
  readonly sendDepth: number;
  readonly receiveDepth: number;
  readonly maxQueued: number;
}
