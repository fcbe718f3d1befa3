// Another process with an engine, driven from here: see test/fixtures/peer.mjs.

import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type {
  AcceptOptions,
  Address,
  Connection,
  ConnectOptions,
  Engine,
  EngineOptions,
} from 'queuepair';
import { onTestFinished } from 'vitest';
import { collect, type Ended, fixture } from './child.js';

interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string };
}

/** A child that answers calls; it ends when the process that started it does. */
export class Peer {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
  #lastId = 0;
  readonly #waiting = new Map<number, (answer: Answer) => void>();

  constructor(execArgv: readonly string[] = []) {
    this.process = fork(fixture('peer.mjs'), [], {
      execArgv: [...execArgv],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.process.on('message', (answer: Answer) => {
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    this.ended = collect(this.process);
    void this.ended.then(({ code, signal, stderr }) => {
      const error = new Error(`The peer ended: ${signal ?? code} ${stderr}`);
      for (const answer of this.#waiting.values()) answer({ id: 0, error });
    });
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  async call<T>(method: string, ...args: readonly unknown[]): Promise<T> {
    const id = ++this.#lastId;
    const answer = await new Promise<Answer>((resolve) => {
      this.#waiting.set(id, resolve);
      this.process.send({ id, method, args });
    });
    if (answer.error !== undefined) throw Object.assign(new Error(), answer.error);
    return answer.result as T;
  }

  /** Without a chance to close anything. Harmless when it is gone already. */
  async kill(): Promise<Ended> {
    this.process.kill('SIGKILL');
    return this.ended;
  }

  /** Returns when each of its threads stands still. */
  stop(): void {
    this.process.kill('SIGSTOP');
    const tasks = `/proc/${this.process.pid}/task`;
    const isStopped = (task: string): boolean =>
      /\) [tT] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'));
    while (!readdirSync(tasks).every(isStopped));
  }

  goOn(): void {
    this.process.kill('SIGCONT');
  }

  /** Lets it close everything and end by itself, which it must do without a word. */
  async finish(): Promise<void> {
    await this.call('finish');
    const { code, signal, stderr } = await this.ended;
    if (code !== 0 || stderr !== '') {
      throw new Error(`The peer ended with ${signal ?? code}: ${stderr}`);
    }
  }
}

/** A peer for one test, with its engine open. */
export async function testPeer(options: EngineOptions = {}): Promise<Peer> {
  const peer = new Peer();
  onTestFinished(async () => {
    await peer.kill();
  });
  await peer.call('open', options);
  return peer;
}

/** Connects `engine` to a peer of its own; `index` names the peer's end in its calls. */
export async function connectPeer(
  engine: Engine,
  options: EngineOptions = {},
  accept: AcceptOptions = {},
  connect: Partial<ConnectOptions> = {},
): Promise<{ peer: Peer; connection: Connection; index: number }> {
  const peer = new Peer();
  await peer.call('open', options);
  const { port } = await peer.call<Address>('listen');
  const [connection, index] = await Promise.all([
    engine.connect({ ...connect, port }),
    peer.call<number>('accept', accept),
  ]);
  await peer.call('closeListener');
  return { peer, connection, index };
}
