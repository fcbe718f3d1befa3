// Programs of test/fixtures in processes of their own.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

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
  /** Called with each line of standard output, while it runs. */
  readonly onLine?: (line: string, child: ChildProcess) => void;
}

/** Runs a Node program to its end. */
export function runProgram(name: string, options: RunOptions = {}): Promise<Ended> {
  const { args = [], execArgv = [], onLine } = options;
  const child = spawn(process.execPath, [...execArgv, fixture(name), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: kEndMs,
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

/** A Python program, which says by a line that it is where it was told to be. */
export class PythonProgram {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  #lines: string[] = [];
  #onLine: (() => void) | undefined;

  constructor(name: string, args: readonly string[]) {
    this.process = spawn('python3', [fixture(name), ...args], { stdio: 'pipe' });
    let rest = '';
    this.process.stdout?.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      this.#lines.push(...lines);
      this.#onLine?.();
    });
    this.ended = collect(this.process);
    onTestFinished(async () => {
      this.process.kill('SIGKILL');
      await this.ended;
    });
  }

  /** The next line that it prints; fails when it ends first. */
  async line(): Promise<string> {
    const arrived = new Promise<void>((resolve) => {
      this.#onLine = resolve;
    });
    if (this.#lines.length === 0) await Promise.race([arrived, this.ended]);
    const line = this.#lines.shift();
    if (line === undefined) throw new Error(`It ended first: ${(await this.ended).stderr}`);
    return line;
  }

  /** It goes on, or ends if that was the last thing to do. */
  goOn(): void {
    this.process.stdin?.write('\n');
  }
}
