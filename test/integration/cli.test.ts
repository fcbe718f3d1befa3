// The `queuepair` command as a shell runs it: output in a pipe, exit codes.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listProviders } from 'queuepair';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function queuepair(args: readonly string[], from: string = root): Result {
  const command = [join(from, 'dist/cli/main.js'), ...args];
  const env = { ...process.env, FORCE_COLOR: undefined, NO_COLOR: undefined };
  return spawnSync(process.execPath, command, { encoding: 'utf8', timeout: 20_000, env });
}

/** A copy of the package that somebody forgot to build. */
function withoutAddon(): string {
  const folder = mkdtempSync(join(tmpdir(), 'queuepair-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, 'dist'), join(folder, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

describe('queuepair info', () => {
  it('prints what there is, in plain text', () => {
    const { status, stdout, stderr } = queuepair(['info']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain("provider 'auto' picks 'shm': ");
    expect(stdout).toMatch(/│ shm\s+│ yes\s+│/);
    expect(stdout).toMatch(/│ page size\s+│ \d+ KiB\s+│/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: no colours, which begin with this
    expect(stdout).not.toMatch(/\u001b/);
  });

  it('prints the same as JSON', async () => {
    const { status, stdout } = queuepair(['info', '--json']);
    expect(status).toBe(0);
    const report = JSON.parse(stdout) as Record<string, unknown>;
    expect(report).toMatchObject({
      machine: { node: process.versions.node, pageBytes: expect.any(Number) },
      chosen: { name: 'shm' },
    });
    expect(report.providers).toEqual(JSON.parse(JSON.stringify(await listProviders())));
  });

  it('fails where nothing works, and says why in one line', () => {
    const folder = withoutAddon();
    const { status, stdout, stderr } = queuepair(['info'], folder);
    expect(status).toBe(1);
    expect(stdout).toMatch(/│ shm\s+│ no\s+│/);
    expect(stderr).toMatch(/^queuepair: ERR_RDMA_ADDON_LOAD: [^\n]+\n$/);
    const json = queuepair(['info', '--json'], folder);
    expect(json).toMatchObject({ status: 1, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      providers: [{ name: 'shm', available: false, adapters: [] }],
      error: { code: 'ERR_RDMA_ADDON_LOAD' },
    });
  });
});

describe('queuepair', () => {
  it('knows its version and its commands', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(queuepair(['--version'])).toMatchObject({ status: 0, stdout: `${version}\n` });
    for (const args of [['--help'], ['help'], ['info', '--help']]) {
      expect(queuepair(args)).toMatchObject({ status: 0, stdout: expect.stringContaining('info') });
    }
  });

  it.each([[[]], [['inform']], [['info', '--jsn']], [['info', 'more']]])(
    'refuses %j with code 2',
    (args) => {
      const { status, stdout, stderr } = queuepair(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).not.toBe('');
    },
  );
});
