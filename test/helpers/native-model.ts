// A model of native code for one connection: reads submission records, keeps both queues in order, and
// completes, flushes and reports as the real one promises to. Tests steer it.
import { CompletionRecord } from '../../src/engine/completion-ring.js';
import { ConnectionCore } from '../../src/engine/connection-core.js';
import type { ConnectionHost } from '../../src/engine/connection-host.js';
import { KeepAlive } from '../../src/engine/keep-alive.js';
import { LaneMemory } from '../../src/engine/lane-memory.js';
import { ControlKind, layout, Opcode } from '../../src/engine/layout.js';
import { MemoryRegion, RegionRecord } from '../../src/engine/memory-region.js';
import type { NativeControl, NativeEvent } from '../../src/engine/native.js';
import { OperationPool } from '../../src/engine/operation.js';
import { PendingTable } from '../../src/engine/pending-table.js';
import { SendBuffers } from '../../src/engine/send-buffers.js';
import { Fault, Status } from '../../src/engine/status.js';
import { SubmissionRing } from '../../src/engine/submission-ring.js';
import { TimerWheel } from '../../src/engine/timer-wheel.js';
import type { WorkQueue } from '../../src/engine/work-queue.js';

interface Posted {
  readonly slot: number;
  readonly generation: number;
}

const kWords = layout.submissionBytes / 4;

export class NativeModel {
  readonly memory: LaneMemory;
  readonly connection: ConnectionCore;
  readonly region: MemoryRegion;
  readonly record: RegionRecord;
  readonly pending: PendingTable;
  /** How often the connection keeps the event loop alive; 0 at the end. */
  alive = 0;
  gone = 0;
  readonly sends: Posted[] = [];
  readonly receives: Posted[] = [];
  readonly #controls: NativeControl[] = [];
  readonly #starved = new Set<WorkQueue>();
  #head = 0;
  #nextRegion = 1;
  #state: 'new' | 'connecting' | 'connected' | 'ended' | 'destroyed' = 'new';

  constructor(options: { submissionCapacity: number; depth: number; maxQueued: number }) {
    const { submissionCapacity, depth, maxQueued } = options;
    this.memory = new LaneMemory({ submissionCapacity, completionCapacity: 256 });
    this.pending = new PendingTable(256);
    const host = this.#createHost();
    this.connection = new ConnectionCore(
      host,
      { slot: 3, generation: 7 },
      { sendDepth: depth, receiveDepth: depth, maxQueued },
      { format: 'raw', referenced: true },
      () => {
        this.gone++;
      },
    );
    this.region = this.#allocate(host, 4096);
    this.record = this.region.record;
  }

  #createHost(): ConnectionHost {
    const submissions = new SubmissionRing(this.memory);
    const keepAlive = new KeepAlive((alive) => {
      this.alive += alive ? 1 : -1;
    });
    const host: ConnectionHost = {
      pending: this.pending,
      submissions,
      operations: new OperationPool(),
      sendBuffers: new SendBuffers((byteLength) => this.#allocate(host, byteLength)),
      timers: new TimerWheel(),
      keepAlive,
      limits: {
        maxSegments: 4,
        maxDepth: 64,
        maxMessageBytes: 1 << 20,
        connectPrivateBytes: 56,
        acceptPrivateBytes: 196,
        rejectPrivateBytes: 148,
      },
      waitForSpace: (queue) => this.#starved.add(queue),
      control: (request) => this.#controls.push(request),
      publish: () => submissions.publish(),
      afterDrain: () => {},
      closeRegion: () => Promise.resolve(),
    };
    return host;
  }

  #allocate(host: ConnectionHost, byteLength: number): MemoryRegion {
    const name = { slot: this.#nextRegion++, generation: 1 };
    const buffer = new SharedArrayBuffer(byteLength);
    return new MemoryRegion(new RegionRecord(host, name, buffer, 0, byteLength, []));
  }

  /** One step: takes submissions, then control requests, then lets starved queues go on. */
  step(): void {
    this.#takeSubmissions();
    for (const request of this.#controls.splice(0)) this.#carryOut(request);
    const starved = [...this.#starved];
    this.#starved.clear();
    for (const queue of starved) queue.pump();
    this.connection.host.publish();
  }

  establish(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'connected';
    this.connection.onEstablished(this.#event(Fault.none, Status.success));
  }

  /** The oldest send or receive succeeds. */
  succeed(queue: Posted[]): void {
    if (this.#state === 'connected') this.#complete(queue.shift(), Status.success);
  }

  /** The oldest operation of the queue fails, which ends the connection. */
  fail(queue: Posted[], status: number): void {
    if (this.#state !== 'connected' || queue.length === 0) return;
    this.#complete(queue.shift(), status);
    this.end(Fault.operationFailed, status);
  }

  /** Flushes everything posted, then reports the end. */
  end(fault: number, status: number = Status.success): void {
    if (this.#state !== 'connected' && this.#state !== 'connecting') return;
    this.#state = 'ended';
    this.#flushAll();
    this.connection.onDisconnected(this.#event(fault, status));
  }

  #takeSubmissions(): void {
    const { words } = this.memory;
    const tail = Atomics.load(words, layout.submissionTailAt / 4);
    const mask = this.memory.geometry.submissionCapacity - 1;
    for (; this.#head !== tail; this.#head = (this.#head + 1) | 0) {
      const at = this.memory.submissionRing / 4 + (this.#head & mask) * kWords;
      const posted = { slot: words[at + 3] as number, generation: words[at + 4] as number };
      const opcode = (words[at] as number) & 0xff;
      (opcode === Opcode.receive ? this.receives : this.sends).push(posted);
    }
    Atomics.store(words, layout.submissionHeadAt / 4, this.#head);
    if (this.#state === 'ended' || this.#state === 'destroyed') this.#flushAll();
  }

  #carryOut({ kind }: NativeControl): void {
    if (kind === ControlKind.connect && this.#state === 'new') this.#state = 'connecting';
    if (kind === ControlKind.flushReceives) this.#flush(this.receives);
    if (kind === ControlKind.disconnect) this.end(Fault.closedLocally);
    if (kind === ControlKind.destroy && this.#state !== 'destroyed') {
      this.#state = 'destroyed';
      this.#flushAll();
      this.connection.onDestroyed();
    }
  }

  #flushAll(): void {
    this.#flush(this.sends);
    this.#flush(this.receives);
  }

  #flush(queue: Posted[]): void {
    for (const posted of queue.splice(0)) this.#complete(posted, Status.flushed);
  }

  #complete(posted: Posted | undefined, status: number): void {
    if (posted === undefined) return;
    const record = new CompletionRecord();
    Object.assign(record, { ...posted, status });
    const operation = this.pending.take(posted.slot, posted.generation);
    if (operation === undefined) throw new Error('a completion names no operation');
    operation.connection.completed(operation, record);
    this.connection.host.publish();
  }

  #event(fault: number, status: number): NativeEvent {
    return {
      kind: 0,
      slot: 3,
      generation: 7,
      listenerSlot: 0,
      listenerGeneration: 0,
      failure: { fault, osError: 0, status, detail: '' },
      peer: { host: '127.0.0.1', port: 1, processId: -1, userId: -1 },
      localAddress: { host: '127.0.0.1', port: 2 },
      privateData: new Uint8Array(0),
    };
  }
}
