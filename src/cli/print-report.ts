// The report of `queuepair info` as tables, without colours, so that it reads the same in a pipe.
import Table from 'cli-table3';
import type { AdapterInfo, Capabilities, ProviderInfo } from '../api/index.js';
import type { InfoReport } from './info.js';

const capabilityNames: Readonly<Record<keyof Capabilities, string>> = {
  receiverNotReadyWaits: 'waits for receives',
  initiatorSpeaksFirst: 'initiator speaks first',
  writeThenSendOrder: 'writes before sends',
  immediate: 'immediate data',
  read: 'one-sided read',
  write: 'one-sided write',
  atomics: 'atomics',
  automaticProgress: 'automatic progress',
  waitFd: 'sleeps when idle',
};

export function printReport(report: InfoReport): void {
  console.log(machineTable(report));
  console.log(providerTable(report.providers));
  for (const { name, adapters } of report.providers) {
    for (const adapter of adapters) console.log(adapterTable(name, adapter));
  }
  if (report.chosen === undefined) return;
  console.log(`provider 'auto' picks '${report.chosen.name}': ${report.chosen.reason}`);
}

function plainTable(head: readonly string[], widths?: readonly (number | null)[]): Table.Table {
  return new Table({
    head: [...head],
    style: { head: [], border: [], compact: true },
    wordWrap: true,
    ...(widths === undefined ? {} : { colWidths: [...widths] }),
  });
}

function machineTable({ queuepair, machine }: InfoReport): string {
  const table = plainTable([]);
  table.push(
    ['queuepair', queuepair],
    ['Node.js', machine.node],
    ['platform', machine.platform],
    ['page size', bytes(machine.pageBytes)],
    ['locked memory limit', bytes(machine.lockedMemoryBytes)],
    ['open files limit', String(machine.openFiles ?? 'unknown')],
  );
  return table.toString();
}

function providerTable(providers: readonly ProviderInfo[]): string {
  const table = plainTable(['provider', 'available', 'why'], [16, 11, 60]);
  for (const { name, available, reasons } of providers) {
    table.push([name, available ? 'yes' : 'no', reasons.join(' ')]);
  }
  return table.toString();
}

function adapterTable(provider: string, { name, capabilities, limits }: AdapterInfo): string {
  const table = plainTable([`${provider}: adapter`, name]);
  table.push(
    ['longest message', bytes(limits.maxMessageBytes)],
    ['operations a queue', String(limits.maxDepth)],
    ['segments an operation', String(limits.maxSegments)],
    [
      'private data',
      `${limits.connectPrivateBytes} B on connect, ${limits.acceptPrivateBytes} on accept, ` +
        `${limits.rejectPrivateBytes} on reject`,
    ],
  );
  for (const key of Object.keys(capabilityNames) as (keyof Capabilities)[]) {
    table.push([capabilityNames[key], capabilities[key] ? 'yes' : 'no']);
  }
  return table.toString();
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** The largest unit in which it is a whole number, so that nothing is rounded. */
function bytes(count: number | 'unlimited' | undefined): string {
  if (count === undefined) return 'unknown';
  if (count === 'unlimited' || count === 0) return count === 0 ? '0 B' : count;
  let unit = 0;
  let value = count;
  while (value % 1024 === 0 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value} ${units[unit]}`;
}
