import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

// Unit tests import src/ by path. Integration tests import 'queuepair': the built package, workers and
// addon included, loaded by Node itself as a user's program would.
const built = fileURLToPath(new URL('dist/api/index.js', import.meta.url));

const config: ViteUserConfig = defineConfig({
  resolve: { alias: { queuepair: built } },
  test: {
    pool: 'forks',
    retry: 0,
    reporters: [['default'], ['json', { outputFile: 'build/results/vitest.json' }]],
    server: { deps: { external: [/\/dist\//] } },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 10_000 },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // Sockets, workers and child processes want the processors to themselves.
          fileParallelism: false,
          testTimeout: 30_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

export default config;
