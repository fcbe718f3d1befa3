// The engine stands on a few things that Node does but hardly promises. They are tried here on the Node
// at hand, so that a new line of Node that changes one of them is found by name.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

interface Answers {
  readonly addresses: { readonly main: string; readonly worker: string };
  readonly atomics: { readonly seenByScript: number; readonly seenByNative: number };
  readonly acceptsBareBuffer: boolean;
  readonly teardown: { readonly before: number; readonly after: number };
  readonly mapping: {
    readonly throughSecondMapping: readonly number[];
    readonly inAnotherThread: readonly number[];
    readonly restored: boolean;
    readonly afterwards: readonly number[];
    readonly writable: number;
  };
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

describe('shared memory under this Node', () => {
  let answers: Answers;

  beforeAll(() => {
    execFileSync(process.execPath, [path('../../scripts/build-native.mjs'), '--probe']);
    const addon = path('../../native/test/probe/build/Release/probe.node');
    const script = path('../fixtures/shared-memory-probe/main.mjs');
    answers = JSON.parse(execFileSync(process.execPath, [script, addon], { encoding: 'utf8' }));
  });

  it('has one address in every thread', () => {
    expect(answers.addresses.worker).toBe(answers.addresses.main);
  });

  it('is seen by atomics on both sides', () => {
    expect(answers.atomics).toEqual({ seenByScript: 41, seenByNative: 42 });
  });

  it('is refused as a bare buffer by Node 20, so views are passed', ({ annotate }) => {
    const major = Number(process.versions.node.split('.')[0]);
    if (major === 20) expect(answers.acceptsBareBuffer).toBe(false);
    return annotate(`Node ${process.version} accepts a bare buffer: ${answers.acceptsBareBuffer}`);
  });

  it('may still be referenced when a worker ends, and written in its cleanup hook', () => {
    expect(answers.teardown).toEqual({ before: 0, after: 1 });
  });

  it('can have a memfd mapped over its pages, and anonymous memory afterwards', () => {
    expect(answers.mapping).toEqual({
      throughSecondMapping: [1, 2],
      inAnotherThread: [1, 2],
      restored: true,
      afterwards: [0, 0],
      writable: 3,
    });
  });
});
