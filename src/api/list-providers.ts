// What this machine has, without opening an engine.
import { RdmaError } from '../engine/errors.js';
import type { NativeAddon } from '../engine/native.js';
import { requireAddon } from '../engine/providers.js';

/** What an adapter can do. */
export interface Capabilities {
  /** A message waits until the peer posts a receive; false: that ends the connection. */
  readonly receiverNotReadyWaits: boolean;
  /** The side that connected must send first. */
  readonly initiatorSpeaksFirst: boolean;
  /** One-sided writes are visible to the peer before a send that was posted after them. */
  readonly writeThenSendOrder: boolean;
  /** Messages can carry a 32-bit value. */
  readonly immediate: boolean;
  /** One-sided reads. */
  readonly read: boolean;
  /** One-sided writes. */
  readonly write: boolean;
  readonly atomics: boolean;
  /** The peer's one-sided work needs no processor time here. */
  readonly automaticProgress: boolean;
  /** An idle engine sleeps until there is work. */
  readonly waitFd: boolean;
}

export interface Limits {
  /** Slices in one operation. */
  readonly maxSegments: number;
  /** Operations posted at once, for each direction of a connection. */
  readonly maxDepth: number;
  /** The longest message of one send, bytes. */
  readonly maxMessageBytes: number;
  /** Private data on connect, accept and reject, bytes; 4 of them are the library's. */
  readonly connectPrivateBytes: number;
  readonly acceptPrivateBytes: number;
  readonly rejectPrivateBytes: number;
}

export interface AdapterInfo {
  readonly name: string;
  readonly capabilities: Capabilities;
  readonly limits: Limits;
}

export interface ProviderInfo {
  /** For `openEngine({ provider })`. */
  readonly name: string;
  readonly available: boolean;
  /** Why it is not available, or what to know about it; whole sentences. */
  readonly reasons: readonly string[];
  /** Empty when it is not available. */
  readonly adapters: readonly AdapterInfo[];
}

/** What to report when there is no native code to ask. */
const kKnownProviders = ['shm'] as const;

/**
 * Every provider that this version knows, available or not, in the order in which `auto` tries them.
 * Never rejects: without native code every provider is unavailable, and says why.
 */
export async function listProviders(): Promise<ProviderInfo[]> {
  let addon: NativeAddon;
  try {
    addon = requireAddon();
  } catch (error) {
    const reasons = [error instanceof RdmaError ? error.message : String(error)];
    return kKnownProviders.map((name) => ({ name, available: false, reasons, adapters: [] }));
  }
  return addon.listProviders();
}
