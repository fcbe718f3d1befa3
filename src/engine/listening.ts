// The listeners of an engine, and the requests that arrive at them.
import { type Peer, resolveAddress } from './address.js';
import type { Connecting } from './connecting.js';
import { RequestCore } from './connection-request.js';
import type { resolveListenOptions } from './engine-options.js';
import { errorFromFailure, type RdmaError, tableFull } from './errors.js';
import { handleKey } from './handle-key.js';
import type { KeepAlive } from './keep-alive.js';
import { ControlKind } from './layout.js';
import { ListenerCore } from './listener-core.js';
import type { NativeAddon, NativeControl, NativeEvent } from './native.js';
import { decodePrivateData, type PrivateDataFormat } from './private-data.js';
import { Fault } from './status.js';
import type { TimerWheel } from './timer-wheel.js';

/** What listening needs of the engine. */
export interface ListeningHost {
  readonly addon: NativeAddon;
  readonly lane: number;
  readonly keepAlive: KeepAlive;
  readonly timers: TimerWheel;
  control(request: NativeControl): void;
  checkOpen(operation: string): void;
}

interface Entry {
  readonly listener: ListenerCore;
  readonly format: PrivateDataFormat;
  /** While listen() waits. */
  waiter: { resolve: (event: NativeEvent) => void; reject: (error: RdmaError) => void } | undefined;
}

export class Listening {
  readonly #host: ListeningHost;
  readonly #connecting: Connecting;
  readonly #entries = new Map<number, Entry>();

  constructor(host: ListeningHost, connecting: Connecting) {
    this.#host = host;
    this.#connecting = connecting;
  }

  get size(): number {
    return this.#entries.size;
  }

  async listen(options: ReturnType<typeof resolveListenOptions>): Promise<ListenerCore> {
    const engine = this.#host;
    const address = await resolveAddress('listen', options.host, options.port);
    engine.checkOpen('listen');
    const handle = engine.addon.createListener(engine.lane);
    if (handle === undefined) throw tableFull('listen');
    const { slot, generation } = handle;
    const listener = new ListenerCore(handle, engine.keepAlive, () =>
      engine.control({ kind: ControlKind.closeListener, slot, generation }),
    );
    const entry: Entry = { listener, format: options.format, waiter: undefined };
    this.#entries.set(handleKey(handle), entry);
    const event = await new Promise<NativeEvent>((resolve, reject) => {
      entry.waiter = { resolve, reject };
      const { backlog } = options;
      engine.control({ kind: ControlKind.listen, slot, generation, ...address, backlog });
    });
    if (event.failure.fault !== Fault.none) {
      throw errorFromFailure('listen', event.failure, { localAddress: address });
    }
    return listener;
  }

  close(): Promise<void>[] {
    return [...this.#entries.values()].map(({ listener }) => listener.close());
  }

  /** The lane is gone, and the native listeners with it; `error` is for who still waits. */
  forgetAll(error: RdmaError): void {
    for (const { listener, waiter } of this.#entries.values()) {
      waiter?.reject(error);
      listener.onClosed();
    }
    this.#entries.clear();
  }

  onListening(event: NativeEvent): void {
    const entry = this.#entryOf(event.slot, event.generation);
    if (entry === undefined) return;
    entry.listener.address = event.localAddress;
    entry.waiter?.resolve(event);
    entry.waiter = undefined;
    if (event.failure.fault !== Fault.none) void entry.listener.close();
  }

  onListenerClosed(event: NativeEvent): void {
    const entry = this.#entryOf(event.slot, event.generation);
    if (entry === undefined) return;
    this.#entries.delete(handleKey(event));
    entry.listener.onClosed();
  }

  onRequest(event: NativeEvent): void {
    const entry = this.#entryOf(event.listenerSlot, event.listenerGeneration);
    const format = entry?.format ?? 'queuepair';
    const peer = peerOf(event);
    const connection = this.#connecting.enterRequest(event, peer, event.localAddress, format);
    if (entry === undefined || !entry.listener.listening) {
      void connection.reject(new Uint8Array(0));
      return;
    }
    try {
      connection.privateData = decodePrivateData(event.privateData, format).bytes;
    } catch {
      // Nobody here asked for it; the peer learns that it speaks something else.
      void connection.reject(new Uint8Array(0));
      return;
    }
    const { listener } = entry;
    const { timers } = this.#host;
    const request = new RequestCore(connection, peer, connection.privateData, timers, (expired) =>
      listener.remove(expired),
    );
    void connection.closed.then(() => listener.remove(request));
    listener.push(request);
  }

  #entryOf(slot: number, generation: number): Entry | undefined {
    return this.#entries.get(handleKey({ slot, generation }));
  }
}

function peerOf({ peer }: NativeEvent): Peer {
  return {
    host: peer.host,
    port: peer.port,
    ...(peer.processId < 0 ? {} : { processId: peer.processId }),
    ...(peer.userId < 0 ? {} : { userId: peer.userId }),
  };
}
