import { RdmaError } from '../engine/errors.js';

/** What a program passed to `destroy()`, as the RdmaError with which pending work is rejected. */
export function destroyError(what: string, error: Error | undefined): RdmaError | undefined {
  if (error === undefined || error instanceof RdmaError) return error;
  return new RdmaError(
    'ERR_RDMA_CLOSED',
    `The ${what} was destroyed on this side. Look at error.cause for the reason.`,
    { operation: 'destroy', cause: error },
  );
}
