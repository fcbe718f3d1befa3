// What the pool's threads run: native calls that block for as long as the system takes.
import { loadAddon, type NativeFailure } from '../engine/native.js';

export interface PopulateTask {
  readonly lane: number;
  readonly slot: number;
  readonly generation: number;
}

const { addon, attempts } = loadAddon();

export default function populate(task: PopulateTask): NativeFailure | undefined {
  if (addon === undefined) {
    throw new Error(`A pool thread cannot load the addon: ${attempts.join('; ')}`);
  }
  return addon.populateMemory(task.lane, task.slot, task.generation);
}
