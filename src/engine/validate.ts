// Checks of options and arguments. Each throws ERR_RDMA_INVALID_ARG with the name of what is wrong.
import { invalidArgument } from './errors.js';

/** A value as error messages name it; never throws for what has no text of its own. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > 40 ? `${value.slice(0, 40)}…` : value}'`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) {
    return `a value of type ${value.constructor?.name ?? 'object'}`;
  }
  return String(value);
}

/** An options object whose keys are all among `known`; `undefined` gives an empty one. */
export function readOptions<T extends object>(
  operation: string,
  options: T | undefined,
  known: readonly (keyof T & string)[],
): T {
  if (options === undefined) return {} as T;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidArgument(
      `${operation}: options must be an object, not ${show(options)}.`,
      operation,
    );
  }
  for (const key of Object.keys(options)) {
    if (!(known as readonly string[]).includes(key)) {
      throw invalidArgument(
        `${operation}: unknown option '${key}'. Known options: ${known.join(', ')}.`,
        operation,
      );
    }
  }
  return options;
}

export interface IntegerRange {
  readonly min: number;
  readonly max: number;
}

/** A safe integer in a range, or `fallback` for `undefined`. */
export function integer(
  name: string,
  value: unknown,
  range: IntegerRange,
  fallback?: number,
): number {
  if (value === undefined && fallback !== undefined) return fallback;
  if (
    typeof value === 'number' &&
    Number.isSafeInteger(value) &&
    value >= range.min &&
    value <= range.max
  ) {
    return value;
  }
  throw invalidArgument(
    `${name} must be an integer from ${range.min} to ${range.max}, not ${show(value)}.`,
  );
}

export function oneOf<T extends string>(
  name: string,
  value: unknown,
  choices: readonly T[],
  fallback: T,
): T {
  if (value === undefined) return fallback;
  if ((choices as readonly unknown[]).includes(value)) return value as T;
  throw invalidArgument(`${name} must be one of ${choices.join(', ')}, not ${show(value)}.`);
}

export function boolean(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value === 'boolean') return value;
  throw invalidArgument(`${name} must be true or false, not ${show(value)}.`);
}

/** An AbortSignal, or `undefined`. */
export function abortSignal(name: string, value: unknown): AbortSignal | undefined {
  if (value === undefined || value instanceof AbortSignal) return value;
  throw invalidArgument(`${name} must be an AbortSignal, not ${show(value)}.`);
}

/** The bytes of a Uint8Array, at most `max` of them; `undefined` gives none. */
export function byteArray(name: string, value: unknown, max: number): Uint8Array {
  if (value === undefined) return new Uint8Array(0);
  if (!(value instanceof Uint8Array)) {
    throw invalidArgument(`${name} must be a Uint8Array, not ${show(value)}.`);
  }
  const bytes = copyOf(value);
  if (bytes === undefined) {
    throw invalidArgument(
      `${name} is detached or out of bounds. Give an array that has its bytes.`,
    );
  }
  if (bytes.byteLength > max) {
    throw invalidArgument(
      `${name} is ${bytes.byteLength} bytes long; at most ${max} fit. Send the rest as a message.`,
    );
  }
  return bytes;
}

function copyOf(array: Uint8Array): Uint8Array | undefined {
  try {
    return new Uint8Array(array);
  } catch {
    return undefined;
  }
}

/** Milliseconds up to what a Node timer holds, 2^31 - 1. */
export const kTimeoutRange: IntegerRange = { min: 1, max: 0x7fffffff };
