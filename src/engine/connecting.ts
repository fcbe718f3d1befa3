// The connections of an engine: how they are made, found, and forgotten.
import { type Address, type Peer, resolveAddress } from './address.js';
import { ConnectionCore } from './connection-core.js';
import type { ConnectionDepths, ConnectionHost } from './connection-host.js';
import type { RequestCore } from './connection-request.js';
import type { ResolvedConnect, ResolvedEstablish } from './engine-options.js';
import { RdmaError, tableFull } from './errors.js';
import { handleKey } from './handle-key.js';
import { ControlKind } from './layout.js';
import { type WaitOptions, within } from './limit.js';
import type { NativeAddon, NativeHandle } from './native.js';
import { encodePrivateData, type PrivateDataFormat } from './private-data.js';

/** What connecting needs of the engine. */
export interface ConnectingHost extends ConnectionHost {
  readonly addon: NativeAddon;
  readonly lane: number;
  checkOpen(operation: string): void;
}

/** Until a request is accepted nothing is posted on it. */
const kRequestDepths: ConnectionDepths = { sendDepth: 0, receiveDepth: 0, maxQueued: 0 };

export class Connecting {
  readonly #host: ConnectingHost;
  readonly #connections = new Map<number, ConnectionCore>();
  /** Of connections that are gone. */
  #pastWaits = 0;

  constructor(host: ConnectingHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Operations that had to wait for a place in their queue. */
  get queueWaits(): number {
    let waits = this.#pastWaits;
    for (const { sends, receives } of this.#connections.values()) {
      waits += sends.waits + receives.waits;
    }
    return waits;
  }

  all(): ConnectionCore[] {
    return [...this.#connections.values()];
  }

  find(handle: NativeHandle): ConnectionCore | undefined {
    return this.#connections.get(handleKey(handle));
  }

  async connect(options: ResolvedConnect): Promise<ConnectionCore> {
    const engine = this.#host;
    const { host, port, wait } = options;
    const begin = performance.now();
    const address = await within(
      'connect',
      engine.timers,
      wait,
      resolveAddress('connect', host, port),
    );
    const left = remaining(wait, performance.now() - begin);
    engine.checkOpen('connect');
    const handle = engine.addon.createConnection(engine.lane);
    if (handle === undefined) throw tableFull('connect');
    const connection = this.#enter(handle, options.depths, options.format, true);
    connection.peer = address;
    await this.#establish(connection, 'connect', { ...options, wait: left }, address);
    return connection;
  }

  /** The connection of a request that arrived; nothing keeps the event loop alive for it. */
  enterRequest(
    handle: NativeHandle,
    peer: Peer,
    localAddress: Address,
    format: PrivateDataFormat,
  ): ConnectionCore {
    const connection = this.#enter(handle, kRequestDepths, format, false);
    connection.peer = peer;
    connection.localAddress = localAddress;
    return connection;
  }

  async accept(request: RequestCore, options: ResolvedEstablish): Promise<ConnectionCore> {
    const { connection } = request;
    connection.setDepths(options.depths);
    connection.ref();
    await this.#establish(connection, 'accept', options, undefined);
    return connection;
  }

  #enter(
    handle: NativeHandle,
    depths: ConnectionDepths,
    format: PrivateDataFormat,
    referenced: boolean,
  ): ConnectionCore {
    const options = { format, referenced };
    const connection = new ConnectionCore(this.#host, handle, depths, options, this.#forget);
    this.#connections.set(handleKey(handle), connection);
    return connection;
  }

  readonly #forget = (connection: ConnectionCore): void => {
    this.#pastWaits += connection.sends.waits + connection.receives.waits;
    this.#host.pending.unreserve(connection.reservedSlots);
    this.#connections.delete(handleKey(connection));
  };

  async #establish(
    connection: ConnectionCore,
    operation: 'connect' | 'accept',
    options: ResolvedEstablish,
    address: Address | undefined,
  ): Promise<void> {
    const { sendDepth, receiveDepth } = options.depths;
    try {
      this.#reserve(connection, operation, sendDepth + receiveDepth);
      for (const target of options.receives) connection.prepost(target);
    } catch (error) {
      connection.destroy(error instanceof RdmaError ? error : undefined);
      throw error;
    }
    const request = {
      kind: operation === 'connect' ? ControlKind.connect : ControlKind.accept,
      ...address,
      sendDepth,
      receiveDepth,
      privateData: encodePrivateData(options.privateData, connection.format, 'raw'),
    };
    await connection.establish(operation, request, options.wait);
  }

  #reserve(connection: ConnectionCore, operation: string, slots: number): void {
    const { pending } = this.#host;
    if (pending.reserve(slots)) {
      connection.reservedSlots = slots;
      return;
    }
    throw new RdmaError(
      'ERR_RDMA_OUT_OF_RESOURCES',
      `${operation}: ${slots} operations more than maxOperations (${pending.capacity}) allows. ` +
        'Open the engine with a larger maxOperations, or the connection with smaller depths.',
      { operation },
    );
  }
}

/** What is left of a timeout after `passedMs`. */
function remaining({ signal, timeoutMs }: WaitOptions, passedMs: number): WaitOptions {
  if (timeoutMs === undefined) return { signal };
  return { signal, timeoutMs: Math.max(1, Math.ceil(timeoutMs - passedMs)) };
}
