// The owner's side of a poller worker: starts it, hears of its end, asks it to return.
import { Worker } from 'node:worker_threads';
import type { NativeAddon } from '../engine/native.js';
import type { PollerPort, PollerStart } from '../engine/poller-port.js';
import type { PollerData } from './poller.js';
import { stopAtExit } from './stop-at-exit.js';

export class PollerHost implements PollerPort {
  /** The worker polls. Rejects when it ends before that. */
  readonly ready: Promise<void>;
  /** The worker is gone, its cleanup hook included. Undefined: it ended as asked. Never rejects. */
  readonly exited: Promise<Error | undefined>;

  readonly #addon: NativeAddon;
  readonly #lane: number;
  readonly #worker: Worker;
  #stopping: Promise<void> | undefined;

  /** The event loop is kept alive until the worker is ready, and while stop() waits for its end. */
  constructor(addon: NativeAddon, start: PollerStart) {
    const { onUnexpectedExit, ...data } = start;
    this.#addon = addon;
    this.#lane = data.lane;
    this.#worker = startWorker(data);
    const leaveExitHook = stopAtExit(() => addon.requestStop(data.lane));
    this.exited = this.#watchExit().finally(leaveExitHook);
    this.ready = this.#watchStart();
    // Whoever opens the engine awaits it; nobody has to.
    this.ready.catch(() => {});
    void this.exited.then((error) => {
      if (error !== undefined) onUnexpectedExit(error);
    });
  }

  /**
   * Asks the worker to return and waits until it is gone. Rejects after `timeoutMs`: the worker then
   * still runs, and the lane may not be closed. Never terminates it. Later calls share the first's wait.
   */
  stop(timeoutMs: number): Promise<void> {
    this.#stopping ??= this.#stop(timeoutMs);
    return this.#stopping;
  }

  async #stop(timeoutMs: number): Promise<void> {
    this.#addon.requestStop(this.#lane);
    this.#worker.ref();
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#worker.unref();
        reject(new Error(`The poller worker did not return within ${timeoutMs} ms`));
      }, timeoutMs);
    });
    try {
      await Promise.race([this.exited, deadline]);
    } finally {
      clearTimeout(timer);
    }
  }

  #watchExit(): Promise<Error | undefined> {
    return new Promise((resolve) => {
      let cause: Error | undefined;
      this.#worker.once('error', (error) => {
        cause = error instanceof Error ? error : new Error(String(error));
      });
      this.#worker.once('exit', (code) => {
        if (cause === undefined && this.#stopping !== undefined) return resolve(undefined);
        resolve(cause ?? new Error(`The poller worker ended unasked, with code ${code}`));
      });
    });
  }

  #watchStart(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#worker.once('message', () => {
        if (this.#stopping === undefined) this.#worker.unref();
        resolve();
      });
      void this.exited.then((error) => {
        reject(error ?? new Error('The poller worker was stopped before it was ready'));
      });
    });
  }
}

function startWorker(workerData: PollerData): Worker {
  return new Worker(new URL('./poller.js', import.meta.url), {
    name: 'queuepair poller',
    workerData,
    // Nothing of the program's is for this thread: no loaders, no inspector, no NODE_OPTIONS. It takes
    // 6 to 9 MiB; resource limits saved less than 1, and may be too tight for a later Node's own start.
    execArgv: [],
    env: {},
  });
}
