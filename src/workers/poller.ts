// The poller worker: a thread that does nothing but progress one lane. It returns once it was asked
// to, and its environment's cleanup hook then destroys what the lane has with its provider.
import { parentPort, workerData } from 'node:worker_threads';
import { loadAddon, type NativeAddon } from '../engine/native.js';
import type { PollerStart } from '../engine/poller-port.js';

export type PollerData = Omit<PollerStart, 'onUnexpectedExit'>;

function attach({ lane, memory, mode, spinNanoseconds }: PollerData): NativeAddon {
  const { addon, attempts } = loadAddon();
  if (addon === undefined) {
    throw new Error(`The poller worker cannot load the addon: ${attempts.join('; ')}`);
  }
  addon.attachPoller(lane, memory, mode, spinNanoseconds);
  return addon;
}

const data: PollerData = workerData;
const addon = attach(data);
// No listener is ever added to the port: one would keep the thread alive after the last turn.
parentPort?.postMessage('ready');

// A JavaScript function for each turn: V8 looks at a function's entry whether the thread is to end,
// and in a loop that only calls native code it does so seldom.
function turn(): boolean {
  return addon.turn(data.lane);
}

let goesOn = true;
while (goesOn) goesOn = turn();
