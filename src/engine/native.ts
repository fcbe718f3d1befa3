// The addon's surface, and the one place that loads it.
import { createRequire } from 'node:module';

/** A generation-tagged name of a native object. */
export interface NativeHandle {
  readonly slot: number;
  readonly generation: number;
}

export interface NativeAddress {
  readonly host: string;
  readonly port: number;
}

/** `fault` and `status` are numbers of `status.ts`; `osError` is an errno or 0. */
export interface NativeFailure {
  readonly fault: number;
  readonly osError: number;
  readonly status: number;
  readonly detail: string;
}

export interface NativePeer extends NativeAddress {
  readonly processId: number;
  readonly userId: number;
}

/** One control event; the fields that its kind does not have are absent. Kinds: `layout.ts`. */
export interface NativeEvent {
  readonly kind: number;
  readonly slot: number;
  readonly generation: number;
  readonly listenerSlot: number;
  readonly listenerGeneration: number;
  readonly failure: NativeFailure;
  readonly peer: NativePeer;
  readonly localAddress: NativeAddress;
  readonly privateData: Uint8Array;
}

/** One control request. Kinds: `layout.ts`. */
export interface NativeControl {
  readonly kind: number;
  readonly slot: number;
  readonly generation: number;
  readonly host?: string;
  readonly port?: number;
  readonly backlog?: number;
  readonly sendDepth?: number;
  readonly receiveDepth?: number;
  readonly privateData?: Uint8Array;
}

export interface NativeCapabilities {
  readonly receiverNotReadyWaits: boolean;
  readonly initiatorSpeaksFirst: boolean;
  readonly writeThenSendOrder: boolean;
  readonly immediate: boolean;
  readonly read: boolean;
  readonly write: boolean;
  readonly atomics: boolean;
  readonly automaticProgress: boolean;
  readonly waitFd: boolean;
}

export interface NativeLimits {
  readonly maxSegments: number;
  readonly maxDepth: number;
  readonly maxMessageBytes: number;
  readonly connectPrivateBytes: number;
  readonly acceptPrivateBytes: number;
  readonly rejectPrivateBytes: number;
}

export interface NativeAdapterReport {
  readonly name: string;
  readonly capabilities: NativeCapabilities;
  readonly limits: NativeLimits;
}

export interface NativeProviderReport {
  readonly name: string;
  readonly available: boolean;
  readonly reasons: readonly string[];
  readonly adapters: readonly NativeAdapterReport[];
}

export interface NativeLane {
  readonly lane: number;
  readonly capabilities: NativeCapabilities;
  readonly limits: NativeLimits;
}

export interface NativeMemory extends NativeHandle {
  /** Where the region's first byte lies in the view that was passed in. */
  readonly byteOffset: number;
}

/**
 * Lanes are named by numbers that are never reused. A call on a lane that is gone does nothing, or
 * returns what it would for an empty one. Calls that can fail for a reason outside the program
 * return a NativeFailure instead of throwing; wrong argument types throw a TypeError.
 */
export interface NativeAddon {
  /** Every number of `native/core/layout.h`, for the test that compares it with `layout.ts`. */
  layout(): Record<string, number>;
  /** Names of completion statuses and of faults, by number. */
  statusNames(): string[];
  faultNames(): string[];
  /** Blocking: looks at the machine. */
  listProviders(): NativeProviderReport[];

  // The owner's thread.
  /** `memory`: the lane's SharedArrayBuffer. `onWake` runs on this thread, in no async context. */
  openLane(
    memory: Uint8Array<SharedArrayBuffer>,
    provider: string,
    onWake: () => void,
  ): NativeLane | NativeFailure;
  /** True: the lane keeps this thread's event loop alive. A new lane does not. */
  keepAlive(lane: number, alive: boolean): void;
  createConnection(lane: number): NativeHandle | undefined;
  createListener(lane: number): NativeHandle | undefined;
  control(lane: number, request: NativeControl): void;
  takeEvents(lane: number): NativeEvent[];
  /** Rings the poller's doorbell. */
  ring(lane: number): void;
  requestStop(lane: number): void;
  /** After the poller returned: destroys what is left and forgets the lane. */
  closeLane(lane: number): void;
  injectFault(lane: number, point: number, skip: number, count: number, value: number): void;

  /**
   * Makes a memfd of `byteLength` bytes rounded up to pages, maps it over the whole pages inside
   * `view` (which is at least one page longer), and enters it as a region. `access`: bits of
   * native/core/region.h.
   */
  allocateMemory(
    lane: number,
    view: Uint8Array<SharedArrayBuffer>,
    byteLength: number,
    access: number,
  ): NativeMemory | NativeFailure;
  registerMemory(
    lane: number,
    view: Uint8Array<SharedArrayBuffer>,
    access: number,
  ): NativeMemory | NativeFailure;
  /** Any thread, blocking: faults the region's pages in. */
  populateMemory(lane: number, slot: number, generation: number): NativeFailure | undefined;

  // The poller's thread.
  /** Pins `memory` in this environment and registers the cleanup that shuts the lane down. */
  attachPoller(
    lane: number,
    memory: Uint8Array<SharedArrayBuffer>,
    mode: number,
    spinNanoseconds: number,
  ): void;
  /** One bounded turn. False: stop was requested, or the lane is gone. */
  turn(lane: number): boolean;
}

export interface LoadedAddon {
  readonly addon: NativeAddon | undefined;
  /** Each place that was tried, with what went wrong there. */
  readonly attempts: readonly string[];
}

const require = createRequire(import.meta.url);

function load(): LoadedAddon {
  const file = `${process.platform}-${process.arch}.node`;
  const attempts: string[] = [];
  try {
    return { addon: require(`../../prebuilds/${file}`) as NativeAddon, attempts };
  } catch (error) {
    attempts.push(`prebuilds/${file}: ${(error as Error).message.split('\n')[0]}`);
  }
  return { addon: undefined, attempts };
}

let loaded: LoadedAddon | undefined;

/** Loads the addon at the first call; never throws. */
export function loadAddon(): LoadedAddon {
  loaded ??= load();
  return loaded;
}
