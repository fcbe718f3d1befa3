// What the engine needs of a poller; src/workers has the real one.
import type { NativeFailure, NativeHandle } from './native.js';

export interface PollerPort {
  /** Resolves when the poller steps. */
  readonly ready: Promise<void>;
  /** Asks the poller to return and resolves when it has; rejects after `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
}

export interface PollerStart {
  readonly lane: number;
  readonly memory: Uint8Array<SharedArrayBuffer>;
  /** A number of layout.ts's PollingMode. */
  readonly mode: number;
  readonly spinNanoseconds: number;
  /** The poller ended though nobody asked it to. */
  readonly onUnexpectedExit: (cause: Error) => void;
}

/** Jobs that block, off the owner's thread. */
export interface BlockingPool {
  populate(lane: number, region: NativeHandle): Promise<NativeFailure | undefined>;
  /** Waits for the jobs that run; never aborts one. */
  close(): Promise<void>;
}
