// Adds up what the native runner and vitest wrote, in one closing line. A runner that left no result has failed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

const total = { passed: 0, failed: 0, skipped: 0 };

const readers = {
  'native.json': ({ passed, failed }) => ({ passed, failed, skipped: 0 }),
  'vitest.json': (report) => ({
    passed: report.numPassedTests,
    // A file that can't be loaded has no tests to fail; neither does an error outside of every test.
    failed: Math.max(report.numFailedTests, report.success ? 0 : 1),
    skipped: report.numPendingTests + report.numTodoTests,
  }),
};

for (const [name, read] of Object.entries(readers)) {
  const path = join(root, 'build/results', name);
  const counts = existsSync(path)
    ? read(JSON.parse(readFileSync(path, 'utf8')))
    : { passed: 0, failed: 1, skipped: 0 };
  for (const key of Object.keys(total)) total[key] += counts[key];
}

const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`${total.passed} passed, ${total.failed} failed${skipped}`);
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
