// The engine's counters, read from shared memory without asking anybody.
import type { LaneMemory } from './lane-memory.js';
import { layout, PollerCounter, StepCounter } from './layout.js';
import { type CompletionStatus, completionStatuses } from './status.js';

/** Counts since the engine was opened. */
export interface EngineStats {
  readonly posts: {
    readonly send: number;
    readonly receive: number;
    readonly read: number;
    readonly write: number;
    readonly atomic: number;
  };
  /** By status; statuses that never occurred are absent. */
  readonly completions: Readonly<Partial<Record<CompletionStatus, number>>>;
  /** Of operations that succeeded. */
  readonly bytes: {
    readonly sent: number;
    readonly received: number;
    readonly read: number;
    readonly written: number;
  };
  readonly poller: {
    readonly steps: number;
    /** Steps that found nothing to do. */
    readonly spins: number;
    readonly parks: number;
    /** Parks that nothing but the clock ended. */
    readonly parkTimeouts: number;
  };
  /** Wakes of this thread by the poller. */
  readonly wakes: number;
  /** Posts that the provider asked to repeat. */
  readonly postsRepeated: number;
  /** Records that native code refused. */
  readonly recordsRefused: number;
  /** Operations that had to wait for a free place in their queue. */
  readonly queueWaits: number;
  readonly operationsInFlight: number;
  readonly connections: number;
  readonly listeners: number;
  readonly regions: number;
}

function readCompletions(memory: LaneMemory): Partial<Record<CompletionStatus, number>> {
  const counts: Partial<Record<CompletionStatus, number>> = {};
  for (const [index, status] of completionStatuses.entries()) {
    const count = step(memory, StepCounter.completionsByStatus + index);
    if (count > 0) counts[status] = count;
  }
  return counts;
}

function step(memory: LaneMemory, counter: number): number {
  return memory.counter(layout.stepCountersAt + 8 * counter);
}

function poller(memory: LaneMemory, counter: number): number {
  return memory.counter(layout.pollerCountersAt + 8 * counter);
}

/** What the engine counts in JavaScript. */
export type OwnerCounts = Pick<
  EngineStats,
  'queueWaits' | 'operationsInFlight' | 'connections' | 'listeners' | 'regions'
>;

export function readStats(memory: LaneMemory, owner: OwnerCounts): EngineStats {
  return {
    posts: {
      send: step(memory, StepCounter.postsSend),
      receive: step(memory, StepCounter.postsReceive),
      read: step(memory, StepCounter.postsRead),
      write: step(memory, StepCounter.postsWrite),
      atomic: step(memory, StepCounter.postsAtomic),
    },
    completions: readCompletions(memory),
    bytes: {
      sent: step(memory, StepCounter.bytesSent),
      received: step(memory, StepCounter.bytesReceived),
      read: step(memory, StepCounter.bytesRead),
      written: step(memory, StepCounter.bytesWritten),
    },
    poller: {
      steps: poller(memory, PollerCounter.steps),
      spins: poller(memory, PollerCounter.idleSteps),
      parks: poller(memory, PollerCounter.parks),
      parkTimeouts: poller(memory, PollerCounter.parkTimeouts),
    },
    wakes: step(memory, StepCounter.ownerWakes),
    postsRepeated: step(memory, StepCounter.postAgain),
    recordsRefused: step(memory, StepCounter.recordsRefused),
    ...owner,
  };
}
