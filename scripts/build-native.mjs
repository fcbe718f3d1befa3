// Builds the addon and copies it to prebuilds/; does nothing when no input has changed.
// With --probe it builds the test addon of native/test/probe instead. Nothing is downloaded.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findNodeDir, findNodeGyp, native, nativeFiles, nodeAddonApi, root } from './paths.mjs';

const suffixes = ['.h', '.cc', '.gyp', '.gypi'];
const targets = {
  addon: {
    directory: native,
    inputs: () => [
      'binding.gyp',
      'flags.gypi',
      ...nativeFiles('core', suffixes),
      ...nativeFiles('binding', suffixes),
    ],
    product: 'build/Release/queuepair.node',
    output: join(root, 'prebuilds', `${process.platform}-${process.arch}.node`),
  },
  probe: {
    directory: join(native, 'test/probe'),
    inputs: () => ['flags.gypi', ...nativeFiles('test/probe', suffixes)],
    product: 'build/Release/probe.node',
  },
};

const target = process.argv.includes('--probe') ? targets.probe : targets.addon;
const nodeDir = findNodeDir();
const product = join(target.directory, target.product);
const stampFile = join(target.directory, 'build/stamp');
const stamp = fingerprint(target.inputs());
const output = target.output ?? product;

const unchanged =
  existsSync(output) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
if (!unchanged) build();

function build() {
  const args = ['configure', 'build', '-C', target.directory, '--silent', `--nodedir=${nodeDir}`];
  console.error('Compiling the native code; this takes a minute or more.');
  const { status, stdout } = spawnSync(process.execPath, [findNodeGyp(), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) {
    console.error(stdout);
    console.error('The native build failed. It needs g++ 12 or newer, make and python3.');
    process.exit(status ?? 1);
  }
  if (target.output) install(target.output);
  writeFileSync(stampFile, stamp);
}

// gyp's product has several hard links, which npm packs as an empty entry: copy the bytes. The rename
// leaves the old inode to a process that has it mapped.
function install(output) {
  mkdirSync(dirname(output), { recursive: true });
  copyFileSync(product, `${output}.new`);
  renameSync(`${output}.new`, output);
}

function fingerprint(inputs) {
  const hash = createHash('sha256');
  for (const path of inputs) hash.update(`${path}\0`).update(readFileSync(join(native, path)));
  const { CXX = '', CXXFLAGS = '', LDFLAGS = '' } = process.env;
  const manifest = readFileSync(join(nodeAddonApi, 'package.json'));
  hash.update(manifest).update([process.arch, nodeDir, CXX, CXXFLAGS, LDFLAGS].join('\0'));
  return hash.digest('hex');
}
