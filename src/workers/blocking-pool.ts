// Threads for the few native calls that block. A running call is never aborted: a thread that is
// terminated inside native code goes on until the code returns, and the engine would be gone by then.
import { Piscina } from 'piscina';
import type { NativeFailure, NativeHandle } from '../engine/native.js';
import type { BlockingPool } from '../engine/poller-port.js';
import type { PopulateTask } from './blocking-task.js';

/** Page faults of one process contend for its address space, so that more threads gain little. */
const kMaxThreads = 2;
/** Long enough to serve a program's start with one set of threads, short enough not to keep them. */
const kIdleTimeoutMs = 2_000;

/** No thread exists before the first call, and none keeps the process alive when idle. */
export class PiscinaPool implements BlockingPool {
  readonly #running = new Set<Promise<unknown>>();
  #pool: Piscina | undefined;
  /** Jobs whose thread could not be had: piscina would leave them waiting. */
  readonly #onThreadError = new Set<(error: Error) => void>();
  #closed = false;

  /** Faults a region's pages in. The caller keeps the region until this settles. */
  populate(lane: number, { slot, generation }: NativeHandle): Promise<NativeFailure | undefined> {
    const task = this.#run({ lane, slot, generation });
    this.#running.add(task);
    const forget = (): void => {
      this.#running.delete(task);
    };
    task.then(forget, forget);
    return task;
  }

  /** Refuses new calls, waits for the ones that run or wait, and ends the threads. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
    await this.#pool?.destroy();
  }

  async #run(task: PopulateTask): Promise<NativeFailure | undefined> {
    if (this.#closed) throw new Error('The pool for blocking calls is closed');
    this.#pool ??= this.#createPool();
    const pool = this.#pool;
    return new Promise((resolve, reject) => {
      this.#onThreadError.add(reject);
      void pool
        .run(task)
        .then(resolve, reject)
        .finally(() => this.#onThreadError.delete(reject));
    });
  }

  #createPool(): Piscina {
    const pool = new Piscina({
      filename: new URL('./blocking-task.js', import.meta.url).href,
      minThreads: 0,
      maxThreads: kMaxThreads,
      idleTimeout: kIdleTimeoutMs,
      // A thread that waits in Atomics.wait sees neither messages nor its end.
      atomics: 'disabled',
      recordTiming: false,
      execArgv: [],
      env: {},
    });
    // Without a listener piscina's error would end the process.
    pool.on('error', (error: Error) => {
      for (const reject of this.#onThreadError) reject(error);
    });
    return pool;
  }
}
