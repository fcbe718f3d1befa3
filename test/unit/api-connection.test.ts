// What a connection tells its subscribers, and in which async context.
import { AsyncLocalStorage } from 'node:async_hooks';
import { map } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../src/api/connection.js';
import type { Engine } from '../../src/api/engine.js';
import type {
  CloseReason,
  ConnectionCore,
  ConnectionState,
} from '../../src/engine/connection-core.js';
import { WorkCompletion } from '../../src/engine/work-completion.js';

/** The part of a connection's core that observables use. */
class FakeCore {
  state: ConnectionState = 'connected';
  onState: ConnectionCore['onState'];
  onCompletions: ConnectionCore['onCompletions'];
  #resolve!: (reason: CloseReason) => void;
  readonly closed: Promise<CloseReason> = new Promise((resolve) => {
    this.#resolve = resolve;
  });

  enter(state: ConnectionState, reason?: CloseReason): void {
    this.state = state;
    if (reason !== undefined) this.#resolve(reason);
    this.onState?.(state, reason);
  }
}

const completion = new WorkCompletion('send', 'success', 1, undefined, 0, undefined, undefined);

function connect(core: FakeCore = new FakeCore()): { core: FakeCore; connection: Connection } {
  return { core, connection: new Connection(core as unknown as ConnectionCore, {} as Engine) };
}

/** The exceptions that nobody caught until the test is over, instead of a failed run. */
function uncaught(): unknown[] {
  const errors: unknown[] = [];
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => errors.push(error));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of before) process.on('uncaughtException', listener);
  });
  return errors;
}

const laterOn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('state$', () => {
  it('of a connection that ended before anybody looked says how', async () => {
    const core = new FakeCore();
    core.enter('closed', { by: 'peer' });
    const { connection } = connect(core);
    const seen: unknown[] = [];
    connection.state$.subscribe({
      next: (change) => seen.push(change),
      complete: () => seen.push('end'),
    });
    await laterOn();
    expect(seen).toEqual([{ state: 'closed', reason: { by: 'peer' } }, 'end']);
  });

  it('has subscribers run in the context of the opening, at once or later', () => {
    const storage = new AsyncLocalStorage<string>();
    const { core, connection } = storage.run('opening', () => connect());
    const seen: unknown[] = [];
    storage.run('subscribing', () => {
      connection.state$.subscribe(({ state }) => seen.push([state, storage.getStore()]));
      expect(storage.getStore()).toBe('subscribing');
    });
    storage.run('engine', () => core.enter('closing'));
    expect(seen).toEqual([
      ['connected', 'opening'],
      ['closing', 'opening'],
    ]);
  });

  it('goes on for others when one throws, which nobody catches', async () => {
    const errors = uncaught();
    const { core, connection } = connect();
    const seen: string[] = [];
    connection.state$.subscribe(() => {
      throw new Error('of a subscriber');
    });
    connection.state$.subscribe(({ state }) => seen.push(state));
    core.enter('closing');
    core.enter('closed', { by: 'local' });
    await laterOn();
    expect(seen).toEqual(['connected', 'closing', 'closed']);
    expect(errors.map(String)).toEqual(Array(3).fill('Error: of a subscriber'));
  });
});

describe('completions$', () => {
  it('has the engine collect only while somebody is subscribed', () => {
    const { core, connection } = connect();
    expect(core.onCompletions).toBeUndefined();
    const { completions$ } = connection;
    expect(core.onCompletions).toBeUndefined();
    const subscriptions = [completions$.subscribe(), completions$.subscribe()];
    expect(core.onCompletions).toBeDefined();
    subscriptions[0]?.unsubscribe();
    expect(core.onCompletions).toBeDefined();
    subscriptions[1]?.unsubscribe();
    expect(core.onCompletions).toBeUndefined();
    const again: WorkCompletion[][] = [];
    completions$.subscribe((list) => again.push(list));
    core.onCompletions?.([completion]);
    expect(again).toEqual([[completion]]);
  });

  it('lets a subscriber leave, or join, from within', () => {
    const { core, connection } = connect();
    const seen: string[] = [];
    const first = connection.completions$.subscribe(() => {
      seen.push('first');
      first.unsubscribe();
      connection.completions$.subscribe(() => seen.push('second'));
    });
    for (let drain = 0; drain < 3; drain++) core.onCompletions?.([completion]);
    expect(seen).toEqual(['first', 'second', 'second']);
  });

  it('ends with the connection, also for who comes later', async () => {
    const { core, connection } = connect();
    const ended: string[] = [];
    connection.completions$.subscribe({ complete: () => ended.push('early') });
    core.enter('closed', { by: 'local' });
    await laterOn();
    connection.completions$.subscribe({ complete: () => ended.push('late') });
    expect(ended).toEqual(['early', 'late']);
    expect(core.onCompletions).toBeUndefined();
  });

  it('runs in the context of the opening', () => {
    const storage = new AsyncLocalStorage<string>();
    const { core, connection } = storage.run('opening', () => connect());
    let seen: unknown;
    storage.run('subscribing', () => {
      connection.completions$.subscribe(() => {
        seen = storage.getStore();
      });
    });
    storage.run('engine', () => core.onCompletions?.([completion]));
    expect(seen).toBe('opening');
  });

  it('does not let what a subscriber or an operator throws into the engine', async () => {
    const errors = uncaught();
    const { core, connection } = connect();
    let seen = 0;
    const fail = (): never => {
      throw new Error('of an operator');
    };
    connection.completions$.pipe(map(fail)).subscribe();
    connection.completions$.subscribe(() => {
      seen++;
      throw new Error('of a subscriber');
    });
    core.onCompletions?.([completion]);
    core.onCompletions?.([completion]);
    await laterOn();
    expect(seen).toBe(2);
    expect(errors.map(String).toSorted()).toEqual([
      'Error: of a subscriber',
      'Error: of a subscriber',
      'Error: of an operator',
    ]);
  });
});
