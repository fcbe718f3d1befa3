// What the library could leave behind in this process: memory, descriptors, sockets, threads.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect } from 'vitest';

/** What each descriptor of a process names, sorted. */
export function descriptors(pid: number | 'self' = 'self'): string[] {
  const folder = `/proc/${pid}/fd`;
  const names = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      return 'gone'; // the one that reads the folder
    }
  });
  return names.filter((name) => name !== 'gone' && !name.startsWith('/proc/')).sort();
}

/** How many of them there are: sockets and event descriptors have changing names. */
export function countDescriptors(pid: number | 'self' = 'self'): number {
  return descriptors(pid).length;
}

function countThreads(): number {
  return readdirSync('/proc/self/task').length;
}

/** Lines of the memory map that are this library's. */
function mappings(): string[] {
  return readFileSync('/proc/self/maps', 'utf8')
    .split('\n')
    .filter((line) => line.includes('/memfd:queuepair'));
}

/** Fails the file when its tests left anything of the library behind, or made it warn. */
export function expectNothingLeft(): void {
  let before: { fds: number; threads: number };
  const warnings: string[] = [];
  const look = (): typeof before => ({ fds: countDescriptors(), threads: countThreads() });
  const warn = (warning: Error & { readonly code?: string }): void => {
    // Tests leave their regions to the engine, which they close.
    if (warning.code !== 'RDMA_REGION_NOT_CLOSED') warnings.push(String(warning.stack));
  };
  beforeAll(async () => {
    await readFile('/proc/self/maps'); // starts Node's own pool of threads, which stays
    before = look();
    process.on('warning', warn);
  });
  afterAll(() => {
    process.off('warning', warn);
    expect(warnings).toEqual([]);
    expect(mappings()).toEqual([]);
    expect(look()).toEqual(before);
  });
}
