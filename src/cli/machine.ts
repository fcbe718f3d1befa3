// Facts about the process and its machine that matter to RDMA; absent where the system does not say.
import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly pageBytes: number | undefined;
  /** Soft limit of locked memory, bytes; providers of network adapters lock what they register. */
  readonly lockedMemoryBytes: number | 'unlimited' | undefined;
  /** Soft limit of open files; every region and every connection takes some. */
  readonly openFiles: number | 'unlimited' | undefined;
}

export function readMachine(): Machine {
  const limits = read('/proc/self/limits')?.toString('latin1') ?? '';
  return {
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    pageBytes: readPageBytes(),
    lockedMemoryBytes: softLimit(limits, 'Max locked memory'),
    openFiles: softLimit(limits, 'Max open files'),
  };
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

function softLimit(limits: string, name: string): number | 'unlimited' | undefined {
  const line = limits.split('\n').find((candidate) => candidate.startsWith(name));
  const value = line?.slice(name.length).trim().split(/\s+/)[0];
  if (value === undefined) return undefined;
  return value === 'unlimited' ? value : Number(value);
}

/** The kernel tells every process in its auxiliary vector: pairs of a key and a value. */
function readPageBytes(): number | undefined {
  const kPageSize = 6n; // AT_PAGESZ
  const vector = read('/proc/self/auxv');
  if (vector === undefined || endianness() !== 'LE') return undefined;
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (vector.readBigUInt64LE(at) === kPageSize) return Number(vector.readBigUInt64LE(at + 8));
  }
  return undefined;
}
