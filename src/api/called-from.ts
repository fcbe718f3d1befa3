// Which line of the program called a public method, for warnings that come long after the call.

/** `file:line:column` of the call of `method` that is running now. */
export function calledFrom(method: (...args: never[]) => unknown): string {
  const holder: { stack?: unknown } = {};
  Error.captureStackTrace(holder, method);
  // Read at once: a trace that was not yet made into text holds the objects whose methods are in it.
  const { stack } = holder;
  const line = typeof stack === 'string' ? stack.split('\n').find(isFrame) : undefined;
  return line === undefined ? 'an unknown place' : place(line);
}

function isFrame(line: string): boolean {
  return line.startsWith('    at ');
}

function place(line: string): string {
  const frame = line.slice('    at '.length);
  return /\(([^()]+)\)$/.exec(frame)?.[1] ?? frame.replace(/^async /, '');
}
