// Hosts and ports, and how a host name becomes the numeric address that providers take.
import { lookup } from 'node:dns/promises';
import { invalidArgument, RdmaError } from './errors.js';
import { type IntegerRange, integer, show } from './validate.js';

export interface Address {
  /** A numeric IPv4 or IPv6 address. */
  readonly host: string;
  readonly port: number;
}

/** What is known of the other process; absent fields are not known to the provider. */
export interface Peer extends Address {
  readonly processId?: number;
  readonly userId?: number;
}

export const kListenPorts: IntegerRange = { min: 0, max: 65535 };
export const kConnectPorts: IntegerRange = { min: 1, max: 65535 };

/** Throws ERR_RDMA_INVALID_ARG; `undefined` gives the loopback address. */
export function checkHost(operation: string, host: unknown): string {
  if (host === undefined) return '127.0.0.1';
  if (typeof host === 'string' && host !== '' && host.length <= 255) return host;
  throw invalidArgument(
    `${operation}: host must be a host name or a numeric address, not ${show(host)}.`,
    operation,
  );
}

export function checkPort(operation: string, port: unknown, range: IntegerRange): number {
  return integer(`${operation}: port`, port, range);
}

/** Rejects with ERR_RDMA_ADDR_UNRESOLVED. */
export async function resolveAddress(
  operation: string,
  host: string,
  port: number,
): Promise<Address> {
  try {
    const { address } = await lookup(host);
    return { host: address, port };
  } catch (cause) {
    throw new RdmaError(
      'ERR_RDMA_ADDR_UNRESOLVED',
      `${operation}: host '${host}' cannot be resolved. Check its spelling, or give a numeric address.`,
      { operation, cause },
    );
  }
}
