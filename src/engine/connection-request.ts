// A peer's request to connect, until it is answered.
import type { Peer } from './address.js';
import type { ConnectionCore } from './connection-core.js';
import { RdmaError } from './errors.js';
import { TimerEntry, type TimerWheel } from './timer-wheel.js';

/** A request that nobody answers is rejected, so that its peer does not wait for ever. */
export const kAnswerTimeoutMs = 10_000;

export class RequestCore {
  readonly connection: ConnectionCore;
  readonly peer: Peer;
  readonly privateData: Uint8Array;
  readonly #timers: TimerWheel;
  readonly #timer: TimerEntry;
  #answer: 'accepted' | 'rejected' | 'expired' | 'withdrawn' | undefined;

  constructor(
    connection: ConnectionCore,
    peer: Peer,
    privateData: Uint8Array,
    timers: TimerWheel,
    onExpired: (request: RequestCore) => void,
  ) {
    this.connection = connection;
    this.peer = peer;
    this.privateData = privateData;
    this.#timers = timers;
    this.#timer = new TimerEntry(() => {
      this.#answer = 'expired';
      void connection.reject(new Uint8Array(0));
      onExpired(this);
    });
    timers.set(this.#timer, kAnswerTimeoutMs);
    void connection.closed.then(() => {
      timers.clear(this.#timer);
      this.#answer ??= 'withdrawn';
    });
  }

  /** Throws ERR_RDMA_INVALID_STATE when it was answered already. */
  take(answer: 'accepted' | 'rejected'): void {
    if (this.#answer === 'withdrawn') throw withdrawn(answer, this.peer);
    if (this.#answer !== undefined) {
      const what = this.#answer === 'expired' ? 'was not answered in time' : `was ${this.#answer}`;
      throw new RdmaError(
        'ERR_RDMA_INVALID_STATE',
        `The request ${what}. Answer each request once, within ${kAnswerTimeoutMs / 1000} s.`,
        { operation: answer === 'accepted' ? 'accept' : 'reject' },
      );
    }
    this.#answer = answer;
    this.#timers.clear(this.#timer);
  }
}

function withdrawn(answer: 'accepted' | 'rejected', peer: Peer): RdmaError {
  return new RdmaError(
    'ERR_RDMA_DISCONNECTED',
    'The peer withdrew its request. Go on with the next one.',
    { operation: answer === 'accepted' ? 'accept' : 'reject', remoteAddress: peer },
  );
}
