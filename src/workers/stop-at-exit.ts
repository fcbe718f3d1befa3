// process.exit() joins the pollers before any native hook of the owner runs, and a parked one would
// keep it waiting: so this thread's pollers are asked to return in its 'exit' event.

const stops = new Set<() => void>();

function stopAll(): void {
  for (const stop of stops) stop();
}

/** The thread has one listener while any function is entered. The one returned takes `stop` out again. */
export function stopAtExit(stop: () => void): () => void {
  // First in line: a listener of the program that throws keeps the ones after it from running.
  if (stops.size === 0) process.prependListener('exit', stopAll);
  stops.add(stop);
  return () => {
    if (stops.delete(stop) && stops.size === 0) process.off('exit', stopAll);
  };
}
