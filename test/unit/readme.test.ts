// What the README promises, as far as text can be checked.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { kPrivateDataLimits } from '../../src/engine/private-data.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');

function blocks(language: string): string[] {
  const pattern = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g');
  return [...readme.matchAll(pattern)].map((match) => match[1] ?? '');
}

describe('README.md', () => {
  it('shows two commands, each enough by itself, on the first screen', () => {
    expect(blocks('sh')).toEqual(['npm ci && npm run demo\n', 'npm ci && npm test\n']);
    const firstScreen = readme.split('\n').slice(0, 24).join('\n');
    for (const command of blocks('sh')) expect(firstScreen).toContain(command);
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['demo', 'test', 'build']));
  });

  it('quotes an example that is compiled and run', () => {
    expect(blocks('js')).toEqual([read('examples/hello.ts')]);
    expect(blocks('ts')).toEqual([]);
  });

  it('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map((match) => match[1]);
    expect(links).not.toEqual([]);
    expect(links.filter((path) => !existsSync(join(root, path ?? '')))).toEqual([]);
  });

  it('names codes and limits that the sources have', () => {
    const sources = read('src/engine/errors.ts') + read('src/api/dropped.ts');
    const codes = [...readme.matchAll(/`((?:ERR_)?RDMA_[A-Z_]+)`/g)].map((match) => match[1] ?? '');
    const unknown = codes.filter(
      (code) => !code.includes('_WC_') && !sources.includes(`'${code}'`),
    );
    expect(unknown).toEqual([]);
    const { connect, accept, reject } = kPrivateDataLimits;
    expect(readme).toContain(
      `${connect} bytes on connect, ${accept} on accept, ${reject} on reject`,
    );
  });
});
