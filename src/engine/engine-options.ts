// The options of an engine and of its calls, their limits and their defaults.
import { availableParallelism } from 'node:os';
import { checkHost, checkPort, kConnectPorts, kListenPorts } from './address.js';
import type { ConnectionDepths } from './connection-host.js';
import { invalidArgument } from './errors.js';
import { PollingMode } from './layout.js';
import type { WaitOptions } from './limit.js';
import type { Access } from './memory-region.js';
import type { NativeLimits } from './native.js';
import { kFrameBytes, kPrivateDataLimits, type PrivateDataFormat } from './private-data.js';
import type { ReceiveTarget } from './segments.js';
import { abortSignal, byteArray, integer, kTimeoutRange, oneOf, readOptions } from './validate.js';

export interface EngineOptions {
  /** A provider's name, or `auto` (default): the first that is available. */
  readonly provider?: string | undefined;
  /**
   * `adaptive` (default): spins for a short while after work, then sleeps. `spin`: never sleeps, and
   * takes a whole core. `event`: sleeps whenever there is nothing to do.
   */
  readonly polling?: PollingMode | undefined;
  /** How long `adaptive` spins after the last work; 0 to 1,000,000 µs. Default: 50, fewer on few cores. */
  readonly spinMicroseconds?: number | undefined;
  /**
   * Operations that can be posted at once, over all connections; each connection reserves its send and
   * receive depth. A power of two, 256 to 1,048,576; default 65,536.
   */
  readonly maxOperations?: number | undefined;
}

interface EstablishOptions {
  /** At most 52 bytes on connect, 192 on accept. */
  readonly privateData?: Uint8Array | undefined;
  /** Slices to receive into, posted before the connection stands; receive() takes their messages. */
  readonly receives?: readonly ReceiveTarget[] | undefined;
  /** Work posted at once, 1 to the provider's limit; default 64 each. */
  readonly sendDepth?: number | undefined;
  readonly receiveDepth?: number | undefined;
  /** Operations that may wait behind the posted ones, for each direction; 0 to 2^20, default 4096. */
  readonly maxQueued?: number | undefined;
  /** Default 10,000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `provider` lifts the private data limits to what this provider carries. */
  readonly privateDataLimit?: 'portable' | 'provider' | undefined;
}

export interface ConnectOptions extends EstablishOptions {
  /** A host name or numeric address; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** 1 to 65,535. */
  readonly port: number;
  /** `raw` towards peers that are not this library; default `queuepair`. */
  readonly privateDataFormat?: PrivateDataFormat | undefined;
}

export type AcceptOptions = EstablishOptions;

export interface RejectOptions {
  /** At most 144 bytes. */
  readonly privateData?: Uint8Array | undefined;
}

export interface ListenOptions {
  /** A host name or numeric address of this host; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** 0 (default) takes a free one; see `listener.address`. */
  readonly port?: number | undefined;
  /** Unanswered requests above it are rejected; 1 to 4096, default 128. */
  readonly backlog?: number | undefined;
  readonly privateDataFormat?: PrivateDataFormat | undefined;
}

export interface MemoryOptions {
  /** What peers may do with it; default nothing. */
  readonly access?: readonly Access[] | undefined;
}

export interface CloseOptions {
  /** Default 5,000. */
  readonly timeoutMs?: number | undefined;
}

export const kDefaults = {
  depth: 64,
  maxQueued: 4096,
  backlog: 128,
  establishTimeoutMs: 10_000,
  closeTimeoutMs: 5000,
  maxOperations: 65_536,
} as const;

export interface ResolvedEngineOptions {
  readonly provider: string;
  readonly polling: PollingMode;
  readonly spinNanoseconds: number;
  readonly maxOperations: number;
}

export function resolveEngineOptions(given: EngineOptions | undefined): ResolvedEngineOptions {
  const name = 'openEngine';
  const options = readOptions(name, given, [
    'provider',
    'polling',
    'spinMicroseconds',
    'maxOperations',
  ]);
  const { provider = 'auto' } = options;
  if (typeof provider !== 'string') {
    throw invalidArgument(`${name}: provider must be a provider's name or 'auto'.`, name);
  }
  const maxOperations = integer(
    `${name}: maxOperations`,
    options.maxOperations,
    { min: 256, max: 2 ** 20 },
    kDefaults.maxOperations,
  );
  if ((maxOperations & (maxOperations - 1)) !== 0) {
    throw invalidArgument(`${name}: maxOperations must be a power of two, not ${maxOperations}.`);
  }
  const modes = Object.keys(PollingMode) as PollingMode[];
  return {
    provider,
    polling: oneOf(`${name}: polling`, options.polling, modes, 'adaptive'),
    spinNanoseconds:
      1000 *
      integer(
        `${name}: spinMicroseconds`,
        options.spinMicroseconds,
        { min: 0, max: 1_000_000 },
        defaultSpinMicroseconds(),
      ),
    maxOperations,
  };
}

/**
 * 50 µs covers the gap between a message and its answer; with fewer than four cores, two pollers and
 * two owners share them, and a poller that spins so long takes the core that its peer needs.
 */
function defaultSpinMicroseconds(): number {
  return availableParallelism() < 4 ? 10 : 50;
}

export interface ResolvedEstablish {
  readonly privateData: Uint8Array;
  readonly receives: readonly ReceiveTarget[];
  readonly depths: ConnectionDepths;
  readonly wait: WaitOptions;
}

const kEstablishKeys = [
  'privateData',
  'receives',
  'sendDepth',
  'receiveDepth',
  'maxQueued',
  'timeoutMs',
  'signal',
  'privateDataLimit',
] as const;

function resolveEstablish(
  operation: 'connect' | 'accept',
  options: EstablishOptions,
  limits: NativeLimits,
  format: PrivateDataFormat,
): ResolvedEstablish {
  const { receives = [] } = options;
  if (!Array.isArray(receives)) {
    throw invalidArgument(`${operation}: receives must be an array of slices.`, operation);
  }
  const depth = { min: 1, max: limits.maxDepth };
  const number = (key: 'sendDepth' | 'receiveDepth'): number =>
    integer(`${operation}: ${key}`, options[key], depth, Math.min(kDefaults.depth, depth.max));
  return {
    privateData: byteArray(
      `${operation}: privateData`,
      options.privateData,
      privateDataLimit(operation, options.privateDataLimit, limits, format),
    ),
    receives,
    depths: {
      sendDepth: number('sendDepth'),
      receiveDepth: number('receiveDepth'),
      maxQueued: integer(
        `${operation}: maxQueued`,
        options.maxQueued,
        { min: 0, max: 2 ** 20 },
        kDefaults.maxQueued,
      ),
    },
    wait: {
      signal: abortSignal(`${operation}: signal`, options.signal),
      timeoutMs: integer(
        `${operation}: timeoutMs`,
        options.timeoutMs,
        kTimeoutRange,
        kDefaults.establishTimeoutMs,
      ),
    },
  };
}

function privateDataLimit(
  operation: 'connect' | 'accept',
  choice: unknown,
  limits: NativeLimits,
  format: PrivateDataFormat,
): number {
  const which = oneOf(
    `${operation}: privateDataLimit`,
    choice,
    ['portable', 'provider'],
    'portable',
  );
  if (which === 'portable') return kPrivateDataLimits[operation];
  const raw = operation === 'connect' ? limits.connectPrivateBytes : limits.acceptPrivateBytes;
  return format === 'raw' ? raw : raw - kFrameBytes;
}

export interface ResolvedConnect extends ResolvedEstablish {
  readonly host: string;
  readonly port: number;
  readonly format: PrivateDataFormat;
}

export function resolveConnectOptions(
  given: ConnectOptions | undefined,
  limits: NativeLimits,
): ResolvedConnect {
  const options = readOptions<Partial<ConnectOptions>>('connect', given, [
    'host',
    'port',
    'privateDataFormat',
    ...kEstablishKeys,
  ]);
  const format = privateDataFormat('connect', options.privateDataFormat);
  return {
    host: checkHost('connect', options.host),
    port: checkPort('connect', options.port, kConnectPorts),
    format,
    ...resolveEstablish('connect', options, limits, format),
  };
}

export function resolveAcceptOptions(
  given: AcceptOptions | undefined,
  limits: NativeLimits,
  format: PrivateDataFormat,
): ResolvedEstablish {
  return resolveEstablish('accept', readOptions('accept', given, kEstablishKeys), limits, format);
}

export interface ResolvedListen {
  readonly host: string;
  readonly port: number;
  readonly backlog: number;
  readonly format: PrivateDataFormat;
}

export function resolveListenOptions(given: ListenOptions | undefined): ResolvedListen {
  const options = readOptions('listen', given, ['host', 'port', 'backlog', 'privateDataFormat']);
  return {
    host: checkHost('listen', options.host),
    port: checkPort('listen', options.port ?? 0, kListenPorts),
    backlog: integer('listen: backlog', options.backlog, { min: 1, max: 4096 }, kDefaults.backlog),
    format: privateDataFormat('listen', options.privateDataFormat),
  };
}

export function resolveCloseTimeout(given: CloseOptions | undefined): number {
  const options = readOptions('close', given, ['timeoutMs']);
  return integer('close: timeoutMs', options.timeoutMs, kTimeoutRange, kDefaults.closeTimeoutMs);
}

function privateDataFormat(operation: string, value: unknown): PrivateDataFormat {
  return oneOf(`${operation}: privateDataFormat`, value, ['queuepair', 'raw'], 'queuepair');
}
