// For the tests of this library. Not exported, and out of reach through the package's name.
import { FaultPoint } from '../engine/layout.js';
import { coreOf, type Engine } from './engine.js';

export interface FaultOptions {
  /** How often the point behaves before it misbehaves; default 0. */
  readonly skip?: number;
  /** How often it then misbehaves; default once. */
  readonly count?: number;
  /** What it misbehaves with; its meaning depends on the point. */
  readonly value?: number;
}

/** Makes a labelled point of the engine's native core misbehave. */
export function injectFault(
  engine: Engine,
  point: keyof typeof FaultPoint,
  options: FaultOptions = {},
): void {
  const { skip = 0, count = 1, value = 0 } = options;
  coreOf(engine).injectFault(FaultPoint[point], skip, count, value);
}
