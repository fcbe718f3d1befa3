// What programs pass as an operation's memory: a slice, a region, up to four of them; for sends also
// byte arrays, which are copied.
import { invalidArgument, RdmaError } from './errors.js';
import { MemorySlice, type RegionHost } from './memory-region.js';
import { show } from './validate.js';

/** Memory to receive into: 1 to 4 slices (a region is a slice of the whole of itself). */
export type ReceiveTarget = MemorySlice | readonly MemorySlice[];
/** What to send: 1 to 4 slices or byte arrays. Byte arrays are copied at the call. */
export type SendSource = MemorySlice | Uint8Array | readonly (MemorySlice | Uint8Array)[];

const kMaxSegments = 4;

function checkSlice(operation: string, host: RegionHost, slice: MemorySlice): void {
  if (slice.record.host !== host) {
    throw invalidArgument(
      `${operation}: the slice is of another engine's region. Use memory of this engine.`,
      operation,
    );
  }
  if (slice.record.state !== 'open') {
    throw new RdmaError(
      'ERR_RDMA_NOT_REGISTERED',
      `${operation}: the slice's region is closed. Use an open region.`,
      { operation },
    );
  }
}

/** Throws unless `part` may be used by `operation`. */
function checkPart(
  operation: string,
  host: RegionHost,
  part: unknown,
  bytesAllowed: boolean,
): void {
  if (MemorySlice.isSlice(part)) {
    checkSlice(operation, host, part);
  } else if (!(bytesAllowed && part instanceof Uint8Array)) {
    const wanted = bytesAllowed ? 'a slice of a region or a Uint8Array' : 'a slice of a region';
    throw invalidArgument(
      `${operation} takes ${wanted}, or up to ${kMaxSegments} of them. ` +
        'Make one with engine.allocate() and region.subarray().',
      operation,
    );
  }
}

/** One part, or the parts of an array in an array of our own, which nobody changes. */
export type Parts = MemorySlice | Uint8Array | readonly (MemorySlice | Uint8Array)[];

/** Throws unless `value` is one part or an array of 1 to 4. */
export function readParts(
  operation: string,
  host: RegionHost,
  value: unknown,
  bytesAllowed: boolean,
): Parts {
  if (!Array.isArray(value)) {
    checkPart(operation, host, value, bytesAllowed);
    return value as MemorySlice | Uint8Array;
  }
  const parts: readonly unknown[] = Array.from(value);
  if (parts.length < 1 || parts.length > kMaxSegments) {
    throw invalidArgument(
      `${operation}: ${parts.length} segments; give 1 to ${kMaxSegments}.`,
      operation,
    );
  }
  for (const part of parts) checkPart(operation, host, part, bytesAllowed);
  return parts as readonly (MemorySlice | Uint8Array)[];
}

/** Throws unless `value` is `undefined` or fits in 32 bits. */
export function checkImmediate(operation: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffffffff) {
    return value;
  }
  throw invalidArgument(
    `${operation}: immediate must be an integer from 0 to 4294967295, not ${show(value)}.`,
    operation,
  );
}
