// How a process with an engine ends: what keeps it alive, and that it ends at once and in silence when
// it is told to, whatever the engine is doing.
import type { ChildProcess } from 'node:child_process';
import { openEngine } from 'queuepair';
import { describe, expect, it } from 'vitest';
import { type Ended, runProgram } from '../helpers/child.js';

/** Runs a scene; `onReady` is called when it is set, with what it printed. */
function run(
  scene: string,
  onReady: (value: string, child: ChildProcess) => void = () => {},
): Promise<Ended> {
  return runProgram('exit/scenes.mjs', {
    args: [scene],
    onLine: (line, child) => {
      if (line.startsWith('ready')) onReady(line.slice('ready '.length), child);
    },
  });
}

const kQuiet = { signal: null, stderr: '' };

describe('a process ends by itself', () => {
  it.each([
    ['an engine and nothing on it', 'nothing'],
    ['a region', 'regionOnly'],
    ['a listener that is unref’d', 'unrefdListener'],
    ['connections that are unref’d', 'unrefdConnections'],
    ['a receive on a connection that is unref’d', 'unrefdReceive'],
    ['an engine that was closed with work outstanding', 'afterClose'],
  ])('with %s', async (_what, scene) => {
    expect(await run(scene)).toMatchObject({ ...kQuiet, code: 0, stdout: 'ready \n' });
  });
});

describe('a process is kept alive', () => {
  it('by a listener, until it is closed', async () => {
    const engine = await openEngine();
    let rejected: Promise<unknown> | undefined;
    const ended = await run('listener', (port) => {
      rejected = engine.connect({ port: Number(port) }).catch((error) => error.code);
    });
    expect(ended).toMatchObject({ ...kQuiet, code: 0 });
    expect(await rejected).toBe('ERR_RDMA_REJECTED');
    await engine.close();
  });

  it('by a connection, until it ends', async () => {
    let asked = false;
    const ended = await run('connection', (_value, child) => {
      asked = child.kill('SIGUSR2');
    });
    expect(ended).toMatchObject({ ...kQuiet, code: 0 });
    expect(asked).toBe(true);
  });

  it('by a send on a connection that is unref’d, until it completes', async () => {
    const ended = await run('outstandingSend', (_value, child) => child.kill('SIGUSR2'));
    expect(ended).toMatchObject({ ...kQuiet, code: 0, stdout: 'ready \nsent\n' });
  });
});

/** Milliseconds from the call of process.exit() to when the process was seen to be gone. */
async function exitDuration(scene: string, code: number): Promise<number> {
  const ended = await run(scene);
  const gone = performance.timeOrigin + ended.at;
  expect(ended).toMatchObject({ ...kQuiet, code });
  return gone - Number(/exiting (\d+)/.exec(ended.stdout)?.[1]);
}

async function medianExit(scene: string, code: number): Promise<number> {
  const durations: number[] = [];
  for (let count = 0; count < 5; count++) durations.push(await exitDuration(scene, code));
  return durations.sort((a, b) => a - b)[2] as number;
}

describe('process.exit()', () => {
  // A park lasts 100 ms and a turn of a JavaScript-less poller seconds: 50 ms tell them apart.
  it.each([
    ['a parked poller', 'exitIdle', 5],
    ['operations in flight', 'exitBusy', 6],
    ['a spinning poller', 'exitSpinning', 7],
  ])('takes at most 50 ms more with %s', async (_what, scene, code) => {
    const bare = await medianExit('exitWithoutEngine', 8);
    expect(await medianExit(scene, code)).toBeLessThan(bare + 50);
  });

  it('keeps an exit code that a listener sets', async () => {
    expect(await run('exitInExitListener')).toMatchObject({ ...kQuiet, code: 9 });
  });

  it('ends the process also when an exit listener throws', async () => {
    const { code, signal, stderr } = await run('throwingExitListener');
    expect(signal).toBe(null);
    expect(code).toBeGreaterThan(0); // which one is Node's affair
    expect(stderr).toContain('from an exit listener');
  });

  it('in a worker ends the worker alone', async () => {
    expect(await run('workerExit')).toMatchObject({ ...kQuiet, code: 0 });
  });
});

describe('an exception in a subscriber', () => {
  it('ends the process as any uncaught one does', async () => {
    const { code, signal, stderr } = await run('throwingSubscriber');
    expect({ code, signal }).toEqual({ code: 1, signal: null });
    expect(stderr).toContain('from a subscriber');
  });

  it('leaves the engine working when the program catches it', async () => {
    const ended = await run('caughtSubscriber');
    expect(ended).toMatchObject({ ...kQuiet, code: 0, stdout: 'ready from a subscriber\n' });
  });
});

it('a disconnect with 64 operations in flight that nobody awaits ends no process', async () => {
  expect(await run('rejectedByPeer')).toMatchObject({ ...kQuiet, code: 0, stdout: 'ready \n' });
});

it.each(['SIGTERM', 'SIGINT'] as const)('%s ends the process at once', async (signal) => {
  let sent = 0;
  const ended = await run('signal', (_value, child) => {
    sent = performance.now();
    child.kill(signal);
  });
  expect(ended).toMatchObject({ code: null, signal, stderr: '' });
  expect(ended.at - sent).toBeLessThan(5000);
});

it('a worker that owns an engine may be terminated: its peer sees the end, others go on', async () => {
  const ended = await run('worker');
  expect(ended).toMatchObject({ ...kQuiet, code: 0, stdout: 'ready 1 error\n' });
});
