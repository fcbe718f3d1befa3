// Programs of test/fixtures in processes of their own.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}
/** A program that has not ended by then has failed. */
const kEndMs = 20_000;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** `performance.now()` when it was seen to be gone. */
  readonly at: number;
}

/** What comes of a child. Whoever starts it sees to its end. */
export function collect(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  let at = 0;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('exit', () => {
    at = performance.now();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr, at }));
  });
}

export interface RunOptions {
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  /** Besides this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default 20,000. */
  readonly timeoutMs?: number;
  /** Called with each line of standard output, while it runs. */
  readonly onLine?: (line: string, child: ChildProcess) => void;
}

/** Runs a Node program to its end. */
export function runProgram(name: string, options: RunOptions = {}): Promise<Ended> {
  const { args = [], execArgv = [], env = {}, timeoutMs = kEndMs, onLine } = options;
  const child = spawn(process.execPath, [...execArgv, fixture(name), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  if (onLine !== undefined) {
    let rest = '';
    child.stdout.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine(line, child);
    });
  }
  return collect(child);
}

/** A Python program that does what each line asks, and answers by a line. */
export class PythonProgram {
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<Ended>;
  #lines: string[] = [];
  #onLine: (() => void) | undefined;

  constructor(name: string, args: readonly string[] = []) {
    this.#process = spawn('python3', ['-B', fixture(name), ...args], { stdio: 'pipe' });
    let rest = '';
    this.#process.stdout.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      this.#lines.push(...lines);
      if (lines.length > 0) this.#onLine?.();
    });
    this.#ended = collect(this.#process);
  }

  /** The next line that it prints; fails when it ends first. */
  async line(): Promise<string> {
    const arrived = new Promise<void>((resolve) => {
      this.#onLine = resolve;
    });
    if (this.#lines.length === 0) await Promise.race([arrived, this.#ended]);
    const line = this.#lines.shift();
    if (line === undefined) throw new Error(`It ended first: ${(await this.#ended).stderr}`);
    return line;
  }

  /** Asks, and waits for the answer. */
  ask(command: string): Promise<string> {
    this.#process.stdin.write(`${command}\n`);
    return this.line();
  }

  /** No more is asked, upon which it ends. */
  end(): Promise<Ended> {
    this.#process.stdin.end();
    return this.#ended;
  }
}
