// Removes what the builds make, and nothing else.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

const products = [
  'dist',
  'build',
  'prebuilds',
  'native/build',
  'native/build-test',
  'native/test/probe/build',
];
for (const path of products) rmSync(join(root, path), { recursive: true, force: true });
