// The addon, a poller worker and the `shm` provider together, driven by hand: no engine between. Each
// program is a process of its own, so that how it ends is part of what is tested.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../src/engine/status.js';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
// A program that does not end by itself has failed.
const timeoutMs = 20_000;

interface Ended {
  /** The last line that it printed. */
  readonly result: Record<string, unknown>;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly at: number;
  readonly stderr: string;
}

function run(program: string, ...args: string[]): Promise<Ended> {
  const script = path(`../fixtures/lane/${program}.mjs`);
  const child = spawn(process.execPath, [script, ...args], { timeout: timeoutMs });
  let stdout = '';
  let stderr = '';
  let at = 0;
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.on('exit', () => {
    at = Date.now();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const lines = stdout.trim().split('\n');
      const result = lines.at(-1)?.startsWith('{') ? JSON.parse(lines.at(-1) ?? '') : {};
      resolve({ result, code, signal, at, stderr });
    });
  });
}

describe('two lanes in one process', () => {
  it('connect, pass a message, close and let the process end', async () => {
    const { result, code, stderr } = await run('messages');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(result).toMatchObject({
      request: [1, 2, 3],
      answer: [4],
      peer: { processId: result.processId },
      received: { operation: 3, generation: 1, status: 0, byteLength: 64 },
      sent: { operation: 5, generation: 1, status: 0 },
      bytes: Array.from({ length: 64 }, (_, index) => index + 1),
      released: true,
      staleByte: 0,
      unexpected: ['undefined', 'undefined'],
    });
    expect(result.ends).toEqual([Fault.closedLocally, Fault.peerClosed]);
  });
});

describe('the addon', () => {
  it('checks, fails, wakes and forgets as its contract says', async () => {
    const { result, code, stderr } = await run('binding');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(result).toEqual({
      wrongArguments: [
        ...['TypeError', 'RangeError', 'RangeError', 'RangeError', 'TypeError', 'TypeError'],
        ...['TypeError', 'RangeError', 'RangeError', 'RangeError', 'RangeError', 'TypeError'],
        'TypeError',
      ],
      unknownProvider: true,
      secondPoller: 'lane must be without a poller',
      secondPollerEnded: 'lane must be without a poller',
      populatedStale: true,
      injected: [12, 12],
      registered: 0,
      stale: 0,
      uncaught: 'from a wake',
      wakesAfterException: true,
      poolClosed: 'The pool for blocking calls is closed',
      gone: [null, null, [], false, null, null, null, null, null],
    });
  });

  it('reports every constant of layout.h', async () => {
    const { loadAddon } = (await import(
      path('../../dist/engine/native.js')
    )) as typeof import('../../src/engine/native.js');
    const reported = loadAddon().addon?.layout() ?? {};
    const header = readFileSync(path('../../native/core/layout.h'), 'utf8');
    const names = [...header.matchAll(/^inline constexpr std::\w+ k(\w+) =/gm)]
      .map((match) => match[1] ?? '')
      .map((name) => name.toLowerCase());
    const known = Object.keys(reported).map((name) => name.toLowerCase());
    const missing = names.filter((name) => !known.some((key) => key.endsWith(name)));
    expect(names.length).toBeGreaterThan(40);
    expect(missing).toEqual([]);
  });
});

describe('the end', () => {
  it('of the process waits for no parked poller', async () => {
    // Node's own end with two idle workers takes 20 ms, and several times that on a busy machine.
    const delays = { lanes: [] as number[], workers: [] as number[] };
    for (let attempt = 0; attempt < 5; attempt += 1) {
      for (const kind of ['lanes', 'workers'] as const) {
        const { result, code, at } = await run('exit', kind);
        expect({ kind, code, parked: result.parked }).toEqual({ kind, code: 7, parked: true });
        delays[kind].push(at - Number(result.at));
      }
    }
    expect(Math.min(...delays.lanes) - Math.min(...delays.workers)).toBeLessThan(50);
  });

  it('of an owner that is terminated is seen by its peer', async () => {
    const { result, code, stderr } = await run('terminated-owner');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect([Fault.peerClosed, Fault.peerLost]).toContain(result.fault);
    expect(result.seen).toBeLessThan(1_000);
  });
});
