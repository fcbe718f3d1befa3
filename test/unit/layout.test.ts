// TypeScript's and C++'s ideas of the shared memory, and of the numbers in it, are the same.
import { expect, test } from 'vitest';
import * as mirror from '../../src/engine/layout.js';
import { requireAddon } from '../../src/engine/providers.js';
import { completionStatuses, Fault } from '../../src/engine/status.js';

const addon = requireAddon();
const native = addon.layout();

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** `{opcodeAt: 0}` under `submission` becomes `{submissionOpcodeAt: 0}`, as native code names it. */
function prefixed(prefix: string, numbers: Record<string, number | readonly number[]>) {
  return Object.fromEntries(
    Object.entries(numbers).flatMap(([name, value]) =>
      typeof value === 'number'
        ? [[`${prefix}${capitalised(name)}`, value]]
        : value.map((each, index) => [`${prefix}${capitalised(name)}${index}`, each]),
    ),
  );
}

const access = Object.fromEntries(
  Object.entries(mirror.AccessBit).map(([name, bit]) => [
    `access${name.split('-').map(capitalised).join('')}`,
    bit,
  ]),
);

const mirrored: Record<string, number> = {
  ...mirror.layout,
  ...prefixed('submission', mirror.submission),
  ...prefixed('completion', mirror.completion),
  ...prefixed('opcode', mirror.Opcode),
  ...prefixed('workFlag', mirror.WorkFlag),
  ...prefixed('controlKind', mirror.ControlKind),
  ...prefixed('eventKind', mirror.EventKind),
  ...prefixed('faultPoint', mirror.FaultPoint),
  ...prefixed('pollingMode', mirror.PollingMode),
  ...prefixed('stepCounter', mirror.StepCounter),
  ...prefixed('pollerCounter', mirror.PollerCounter),
  ...prefixed('fault', Fault),
  ...access,
};

// Numbers that only native code uses.
const nativeOnly = new Set([
  ...['line', 'span', 'stepCounterCount', 'pollerCounterCount', 'accessLocalOnly', 'statusCount'],
  ...['pollerStateStepping', 'pollerStateWatching', 'pollerStateParked', 'faultCount'],
  ...['roleNone', 'roleOwner', 'rolePoller', 'faultPointCount', 'maxSegments'],
]);

test('every number that TypeScript mirrors is what native code has', () => {
  const theirs = Object.keys(mirrored).map((name) => [name, native[name]]);
  expect(mirrored).toEqual(Object.fromEntries(theirs));
});

test('no number of native code is missing here', () => {
  const missing = Object.keys(native).filter((name) => !(name in mirrored || nativeOnly.has(name)));
  expect(missing).toEqual([]);
});

test('statuses and faults have the same names in the same order', () => {
  expect(addon.statusNames()).toEqual([...completionStatuses]);
  const faults = Object.keys(Fault).map((name) =>
    name.replace(/[A-Z]/g, (c) => `-${c}`).toLowerCase(),
  );
  expect(addon.faultNames()).toEqual(faults);
});
