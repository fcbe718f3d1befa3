// process.exit() joins the pollers before any native hook of the owner runs, and a parked one would
// keep it waiting: so this thread's pollers are asked to return in its 'exit' event.
import type { NativeAddon } from '../engine/native.js';

const running = new Map<number, NativeAddon>();

function stopAll(): void {
  for (const [lane, addon] of running) addon.requestStop(lane);
}

/** The process has one listener while any lane is entered. The function returned takes it out again. */
export function stopAtExit(addon: NativeAddon, lane: number): () => void {
  // First in line: a listener of the program that throws keeps the ones after it from running.
  if (running.size === 0) process.prependListener('exit', stopAll);
  running.set(lane, addon);
  return () => {
    if (running.delete(lane) && running.size === 0) process.off('exit', stopAll);
  };
}
