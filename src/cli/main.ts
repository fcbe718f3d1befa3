#!/usr/bin/env node
// The `queuepair` command. Exit codes: 0 done, 1 failed, 2 used wrongly.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { info } from './info.js';

function version(): string {
  const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

function program(): Command {
  const command = new Command('queuepair')
    .description('RDMA for Node.js: looks at what this machine has.')
    .version(version())
    .exitOverride()
    .configureHelp({ sortSubcommands: true });
  command
    .command('info')
    .description('show providers, adapters, limits, and what `auto` picks; fails if nothing works')
    .option('--json', 'print JSON instead of tables')
    .action(async (options: { readonly json?: boolean }) => {
      process.exitCode = await info(version(), options.json === true);
    });
  return command;
}

function report(error: unknown): number {
  // Commander has printed its own message by then.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  const line = String(message ?? error).replaceAll(/\s*\n\s*/g, ' ');
  console.error(code === undefined ? `queuepair: ${line}` : `queuepair: ${code}: ${line}`);
  return 1;
}

// Who reads only the beginning, as `head` does, has what it wants.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
