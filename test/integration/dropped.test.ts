// What a program loses without closing it is warned of, once; what it holds is not.
import { describe, expect, it } from 'vitest';
import { runProgram } from '../helpers/child.js';

async function warnings(what: string): Promise<{ codes: string[]; text: string }> {
  const execArgv = ['--expose-gc', '--no-warnings'];
  const ended = await runProgram('dropped.mjs', { args: [what], execArgv });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  const lines = ended.stdout.trim().split('\n');
  const codes = JSON.parse((lines.at(-1) ?? '').split(' ')[0] ?? '') as string[];
  return { codes, text: lines.slice(0, -1).join('\n') };
}

describe('a lost engine', () => {
  it('is warned of, with the line that opened it', async () => {
    const { codes, text } = await warnings('engine');
    expect(codes).toEqual(['RDMA_ENGINE_NOT_CLOSED']);
    expect(text).toMatch(/^An engine opened at \S*dropped\.mjs:\d+:\d+ was garbage-collected/);
  });

  it('is warned of though it has open connections, if those are lost as well', async () => {
    expect((await warnings('connections')).codes).toEqual(['RDMA_ENGINE_NOT_CLOSED']);
  });

  it.each(['closed', 'destroyed', 'regionOfClosed'])('is not warned of when %s', async (what) => {
    expect((await warnings(what)).codes).toEqual([]);
  });

  it.each(['heldListener', 'heldSlice', 'heldConnection', 'subscribed'])(
    'is not lost while the program has %s',
    async (what) => {
      expect((await warnings(what)).codes).toEqual([]);
    },
  );
});

describe('a lost region', () => {
  it.each(['region', 'usedRegion'])(
    'is warned of, with the line that made it: %s',
    async (what) => {
      const { codes, text } = await warnings(what);
      expect(codes).toEqual(['RDMA_REGION_NOT_CLOSED']);
      expect(text).toMatch(/^A region of \d+ bytes made at \S*dropped\.mjs:\d+:\d+ was garbage-/);
    },
  );
});
