// Whatever happens, no process and no file is left behind, and the demo ends.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Job } from './receiver.js';

/** Some ten times what it takes on two slow processors. */
const kDeadlineMs = 300_000;

export class Supervisor {
  /** Removed when this process ends. */
  readonly folder: string = mkdtempSync(join(tmpdir(), 'queuepair-demo-'));
  #child: ChildProcess | undefined;

  constructor() {
    process.once('exit', () => {
      this.#child?.kill('SIGKILL');
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => process.exit(128 + constants.signals[signal]));
    }
  }

  /** Starts the receiver and runs `work`; rejects as soon as one of them fails, or at the deadline. */
  async run<T>(job: Omit<Job, 'folder'>, work: () => Promise<T>): Promise<T> {
    const script = fileURLToPath(new URL('./receiver.js', import.meta.url));
    const child = fork(script, [JSON.stringify({ ...job, folder: this.folder })], { execArgv: [] });
    this.#child = child;
    let deadline: NodeJS.Timeout | undefined;
    const failed = new Promise<never>((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (code !== 0) reject(new Error(`The receiver ended with ${signal ?? `code ${code}`}`));
      });
      deadline = setTimeout(
        () => reject(new Error(`Not done after ${kDeadlineMs / 1000} s`)),
        kDeadlineMs,
      );
    });
    try {
      return await Promise.race([work(), failed]);
    } finally {
      clearTimeout(deadline);
    }
  }
}
