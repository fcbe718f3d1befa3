// Compiles src/ to dist/ and examples/ to build/examples/, then removes outputs whose source is gone:
// tsc never does, and a stale module would be packed and published.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './paths.mjs';

const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

const projects = [
  { config: 'tsconfig.build.json', source: 'src', output: 'dist' },
  { config: 'tsconfig.examples.json', source: 'examples', output: 'build/examples' },
];

for (const { config, source, output } of projects) {
  if (existsSync(join(root, source))) {
    const { status } = spawnSync(process.execPath, [tsc, '-p', config], {
      cwd: root,
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(status ?? 1);
  }
  prune(join(root, source), join(root, output));
}

function prune(source, output) {
  if (!existsSync(output)) return;
  for (const entry of readdirSync(output, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const origin = path.replace(output, source).replace(/\.d\.ts$|\.js(\.map)?$/, '.ts');
    if (!existsSync(origin)) rmSync(path);
  }
}
