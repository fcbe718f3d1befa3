import { type AbortError, RdmaError } from 'queuepair';
import { expect } from 'vitest';

/** What the promise rejects with, which must be an error of this library with that code. */
export async function rejection(promise: Promise<unknown>, code: string): Promise<RdmaError> {
  const error = await outcome(promise);
  if (!(error instanceof RdmaError)) throw new Error(`Not an RdmaError: ${String(error)}`);
  expect(error).toMatchObject({ name: 'RdmaError', code });
  // Its last sentence says what to do.
  expect(error.message).toMatch(/[.!?)]$/);
  return error;
}

export async function abortion(promise: Promise<unknown>, cause: unknown): Promise<AbortError> {
  const error = (await outcome(promise)) as AbortError;
  expect(error).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR', cause });
  return error;
}

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`It did not reject, but resolved with ${String(value)}`);
}

/** The codes with which these reject; `undefined` for one that resolves. */
export async function codesOf(promises: readonly Promise<unknown>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(promises);
  return results.map((result) =>
    result.status === 'rejected' ? (result.reason as { code?: string }).code : undefined,
  );
}
