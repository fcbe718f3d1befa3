// The examples as they were built, run as the README says.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const built = fileURLToPath(new URL('../../build/examples', import.meta.url));

function run(script: string, args: readonly string[] = [], tmp: string = tmpdir()) {
  return spawnSync(process.execPath, [join(built, script), ...args], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, TMPDIR: tmp },
  });
}

describe('hello', () => {
  it('says hello and ends', () => {
    expect(run('hello.js')).toMatchObject({
      status: 0,
      stdout: 'server: Hello, who is there?\nclient: Hello to you. (13 bytes)\n',
      stderr: '',
    });
  });
});

describe('the demo', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'queuepair-examples-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const demo = (path: string, ...more: string[]) =>
    run('demo/main.js', [path, '--rounds', '100', ...more], folder);

  it.each([0, 1, 3_145_731])(
    'sends a file of %i bytes both ways',
    (byteLength) => {
      const bytes = Buffer.alloc(byteLength, 'queuepair');
      const path = join(folder, `${byteLength}`);
      writeFileSync(path, bytes);
      const { status, stdout, stderr } = demo(path);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      const digest = createHash('sha256').update(bytes).digest('hex');
      expect(stdout.split(`SHA-256 ${digest}`)).toHaveLength(4);
      expect(stdout).toMatch(/│ round trip p99\.9, µs\s+│\s+[\d.]+ │\s+[\d.]+ │\s+[\d.]+ │/);
      rmSync(path);
      expect(readdirSync(folder)).toEqual([]);
    },
    90_000,
  );

  it('says in one line what is wrong, and leaves nothing behind', () => {
    for (const args of [['/no/such/file'], [folder], [folder, 'more'], ['--rounds', 'many']]) {
      const { status, stdout, stderr } = run('demo/main.js', args, folder);
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
      expect(stderr).toMatch(/^demo: [^\n]+\n$/);
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});
