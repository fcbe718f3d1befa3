// Builds native/test/*_test.cc under ASan with UBSan, and under TSan, and runs them without Node.
// `--asan` or `--tsan` picks one; other arguments select executables by a part of their name.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { native, nativeFiles, root } from './paths.mjs';

// Sanitized code on a loaded machine is some twenty times slower than plain code; no test is meant to
// take more than a second of plain time.
const timeoutMs = 120_000;

const args = process.argv.slice(2);
const names = args.filter((arg) => !arg.startsWith('--'));
const variants = [
  { flag: '--asan', label: 'ASan+UBSan', sanitizer: 'address,undefined' },
  { flag: '--tsan', label: 'TSan', sanitizer: 'thread' },
].filter(({ flag }) => !args.some((arg) => arg.startsWith('--')) || args.includes(flag));

const tests = nativeFiles('test', ['_test.cc'])
  .map((path) => path.slice('test/'.length, -'.cc'.length))
  .filter((name) => !name.includes('/'))
  .filter((name) => names.length === 0 || names.some((part) => name.includes(part)));

if (tests.length === 0 && names.length > 0) {
  throw new Error(`No native/test/*_test.cc is named like ${names.join(' or ')}`);
}

// Kernels with many random address bits leave TSan's shadow no room; where the call is forbidden, do without.
const setarch = ['setarch', process.arch === 'x64' ? 'x86_64' : 'aarch64', '-R'];
const fixedAddresses =
  spawnSync(setarch[0], [...setarch.slice(1), 'true']).status === 0 ? setarch : [];

const total = { passed: 0, failed: 0 };
for (const { label, sanitizer, flag } of variants) {
  const out = `build-test/${flag.slice(2)}`;
  build(sanitizer, out);
  for (const name of tests) {
    const { passed, failed, note } = await run(join(native, out, name));
    total.passed += passed;
    total.failed += failed;
    console.log(
      `${failed === 0 ? ' ok ' : 'FAIL'} ${label} ${name}: ${passed} passed, ${failed} failed${note}`,
    );
  }
}
report();

function build(sanitizer, out) {
  const targets = tests.map((name) => `${out}/${name}`);
  if (targets.length === 0) return;
  const jobs = `-j${availableParallelism()}`;
  const options = ['-f', 'test/Makefile', jobs, `SANITIZER=${sanitizer}`, `OUT=${out}`];
  const { status } = spawnSync('make', ['-s', ...options, ...targets], {
    cwd: native,
    stdio: 'inherit',
  });
  if (status === 0) return;
  total.failed += 1;
  console.error(`FAIL build with -fsanitize=${sanitizer}`);
  report();
}

/** One executable, in a process group of its own, so that a time-out takes its children as well. */
function run(executable) {
  return new Promise((resolve, reject) => {
    const [command, ...rest] = [...fixedAddresses, executable];
    const child = spawn(command, rest, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve(judge(output, code, timedOut ? `timed out after ${timeoutMs} ms` : signal));
    });
  });
}

/** An executable that ends badly after its tests passed, as with a leak or a race, has failed. */
function judge(output, code, reason) {
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(output);
  const passed = Number(counts?.[1] ?? 0);
  const failed = Number(counts?.[2] ?? 0);
  if (code === 0 && counts) return { passed, failed, note: '' };
  return { passed, failed: Math.max(failed, 1), note: ` (${reason ?? `exit code ${code}`})` };
}

function report() {
  mkdirSync(join(root, 'build/results'), { recursive: true });
  writeFileSync(join(root, 'build/results/native.json'), JSON.stringify(total));
  console.log(`native: ${total.passed} passed, ${total.failed} failed`);
  process.exit(total.failed === 0 ? 0 : 1);
}
