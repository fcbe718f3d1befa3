// clang-format and clang-tidy over native/. With --fix only clang-format, in place. Further arguments
// select files by a part of their path.
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { findNodeDir, native, nativeFiles, nodeAddonApi } from './paths.mjs';

const args = process.argv.slice(2);
const wanted = args.filter((arg) => !arg.startsWith('--'));
const files = ['core', 'binding', 'test']
  .flatMap((folder) => nativeFiles(folder, ['.h', '.cc']))
  .filter((path) => wanted.length === 0 || wanted.some((part) => path.includes(part)));

const compileFlags = [
  '-std=c++20',
  '-fno-exceptions',
  '-fno-rtti',
  '-I.',
  ...['-isystem', nodeAddonApi, '-isystem', `${findNodeDir()}/include/node`],
  ...['-DNAPI_VERSION=9', '-DNAPI_DISABLE_CPP_EXCEPTIONS', '-DBUILDING_NODE_EXTENSION'],
];

if (args.includes('--fix')) {
  process.exit(format(['-i']));
}
const failures = [
  ...(format(['--dry-run', '-Werror']) === 0 ? [] : ['clang-format (npm run format mends it)']),
  ...(await tidy(files.filter((path) => path.endsWith('.cc')))),
];
for (const failure of failures) console.error(`FAIL ${failure}`);
console.log(`lint-native: ${files.length} files, ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);

function format(options) {
  if (files.length === 0) return 0;
  const { status, error } = spawnSync('clang-format', [...options, ...files], {
    cwd: native,
    stdio: 'inherit',
  });
  if (error)
    throw new Error('clang-format does not run; Debian has it as a package', { cause: error });
  return status;
}

/** Runs one clang-tidy per source file, as many at once as there are processors; returns what failed. */
async function tidy(sources) {
  const failed = [];
  const queue = [...sources];
  const drain = async () => {
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      if (!(await tidyOne(path))) failed.push(`clang-tidy ${path}`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, drain));
  return failed;
}

function tidyOne(path) {
  return new Promise((resolve, reject) => {
    const child = spawn('clang-tidy', ['--quiet', path, '--', ...compileFlags], { cwd: native });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    // stderr holds counts of suppressed warnings when all is well, and the reason when it isn't.
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (status) => {
      if (status !== 0) process.stdout.write(output);
      resolve(status === 0);
    });
  });
}
