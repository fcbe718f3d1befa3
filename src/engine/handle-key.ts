// One number for a handle. Native code may reuse a slot before the end of its last object was heard of
// here, so a slot alone names nothing.
import type { NativeHandle } from './native.js';

/** Native tables have at most 2^18 slots; with a 32-bit generation that stays below 2^53. */
const kSlots = 2 ** 18;

export function handleKey({ slot, generation }: NativeHandle): number {
  return generation * kSlots + slot;
}
