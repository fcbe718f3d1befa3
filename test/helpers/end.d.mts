import type { Connection, Engine } from 'queuepair';

export type TargetMemory = 'allocated' | 'shared' | 'wasm';
export type SourceMemory = TargetMemory | 'bytes' | 'buffer';

export interface SendSpec {
  /** Picks the bytes. */
  readonly seed?: number;
  /** One segment for each. */
  readonly lengths: readonly number[];
  readonly memory?: SourceMemory;
  readonly immediate?: number | undefined;
}

export interface Sent {
  readonly operation: string;
  readonly status: string;
  readonly byteLength: number;
}

export interface ReceiveSpec {
  readonly lengths: readonly number[];
  readonly memory?: TargetMemory;
}

export interface Received {
  readonly status: string;
  readonly byteLength: number;
  readonly immediate: number | undefined;
  /** Nothing was written outside the message. */
  readonly intact: boolean;
  readonly digest: string;
}

export interface StreamSpec {
  readonly count: number;
  readonly depth: number;
  readonly byteLength: number;
}

/** What a test does with either end, wherever it lives. */
export interface EndApi {
  send(spec: SendSpec): Promise<Sent>;
  receive(spec: ReceiveSpec): Promise<Received>;
  stream(spec: StreamSpec): Promise<[number, number][]>;
  close(): Promise<void>;
}

export class End implements EndApi {
  readonly engine: Engine;
  readonly connection: Connection;
  constructor(engine: Engine, connection: Connection);
  send(spec: SendSpec): Promise<Sent>;
  receive(spec: ReceiveSpec): Promise<Received>;
  stream(spec: StreamSpec): Promise<[number, number][]>;
  close(): Promise<void>;
}

export function fill<T extends Uint8Array>(bytes: T, seed: number): T;
export function digestOf(parts: readonly Uint8Array[]): string;
export function expectedDigest(seed: number, byteLength: number): string;
