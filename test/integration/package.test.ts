// What a user gets from the registry: packed, installed into an empty project without any script, imported,
// and compiled against with TypeScript's default options.
import { execFileSync } from 'node:child_process';
import { cpSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixture = fileURLToPath(new URL('../fixtures/consumer', import.meta.url));
const types = fileURLToPath(new URL('../types', import.meta.url));
const prebuild = `prebuilds/${process.platform}-${process.arch}.node`;

interface PackReport {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

describe('the lock file', () => {
  it('names no registry, so that it installs from any', () => {
    expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
  });
});

describe('the tarball', () => {
  const folder = mkdtempSync(join(tmpdir(), 'queuepair-package-'));
  const project = join(folder, 'project');
  const installed = join(project, 'node_modules/queuepair');
  let report: PackReport;

  const npm = (cwd: string, ...args: string[]): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const node = (...args: string[]): string =>
    execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });

  beforeAll(() => {
    cpSync(fixture, project, { recursive: true });
    cpSync(types, join(project, 'types'), { recursive: true });
    const output: unknown = JSON.parse(npm(root, 'pack', '--json', '--pack-destination', folder));
    report = Object.values(output as Record<string, PackReport>)[0] as PackReport;
    const { devDependencies } = createRequire(import.meta.url)(join(root, 'package.json'));
    const nodeTypes = `@types/node@${devDependencies['@types/node']}`;
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    npm(project, 'install', ...options, join(folder, report.filename), nodeTypes);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('holds the compiled modules, the addon and the legal minimum, and nothing else', () => {
    const paths = report.files.map((file) => file.path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'package.json',
        'dist/api/index.js',
        prebuild,
      ]),
    );
    const known =
      /^(dist\/.*\.(js|js\.map|d\.ts)|prebuilds\/.*\.node|LICENSE|README\.md|package\.json)$/;
    expect(paths.filter((path) => !known.test(path))).toEqual([]);
  });

  it('installs the addon as a regular file with bytes in it', () => {
    const stat = lstatSync(join(installed, prebuild));
    expect(stat.isFile()).toBe(true);
    expect(stat.size).toBeGreaterThan(10_000);
  });

  it('is imported by its name', () => {
    const names: unknown = JSON.parse(
      node('-e', "import('queuepair').then((m) => console.log(JSON.stringify(Object.keys(m))))"),
    );
    expect(names).not.toEqual([]);
  });

  it('keeps its insides to itself', () => {
    const script = "import('queuepair/dist/api/testing.js').catch((e) => console.log(e.code))";
    expect(node('-e', script)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
  });

  it('has a command that runs', () => {
    expect(node(join(installed, 'dist/cli/main.js'), '--help')).toContain('queuepair');
  });

  it('moves a file from one process to another', () => {
    const copy = join(folder, 'copy');
    node('move-file.mjs', process.execPath, copy);
    expect(readFileSync(copy).equals(readFileSync(process.execPath))).toBe(true);
  }, 60_000);

  it("satisfies TypeScript's default options, and refuses misuse", () => {
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    writeFileSync(join(project, 'tsconfig.json'), '{}');
    expect(output(() => node(tsc, '--noEmit'))).toBe('');
  }, 120_000);
});

/** What a program printed, also when it failed. */
function output(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}
