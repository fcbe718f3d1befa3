// The states of a connection as an observable. The engine knows nothing of observables: it has one
// callback.
import { AsyncResource } from 'node:async_hooks';
import { Observable, ReplaySubject } from 'rxjs';
import type { CloseReason, ConnectionCore, ConnectionState } from '../engine/connection-core.js';

/** A state of a connection. The last one is `closed`, and says how it came about. */
export interface StateChange {
  readonly state: ConnectionState;
  /** With `closed` only. */
  readonly reason?: CloseReason;
}

/**
 * Belongs to the core, and does not lead to the Connection: one that the program dropped is collected
 * though it is open. Subscribers run in the async context in which this was made.
 */
export class ConnectionStates {
  /** The current state, then every change, then the end. */
  readonly observable: Observable<StateChange>;
  readonly #context = new AsyncResource('RdmaConnection');
  readonly #changes = new ReplaySubject<StateChange>(1);

  constructor(core: ConnectionCore) {
    this.observable = new Observable((subscriber) => {
      this.run(() => subscriber.add(this.#changes.subscribe(subscriber)));
    });
    if (core.state === 'closed') {
      void core.closed.then((reason) => this.#emit('closed', reason));
      return;
    }
    this.#changes.next({ state: core.state });
    core.onState = (state, reason) => this.#emit(state, reason);
  }

  /** Runs `work` in the connection's async context. */
  run(work: () => void): void {
    this.#context.runInAsyncScope(work);
  }

  #emit(state: ConnectionState, reason: CloseReason | undefined): void {
    this.run(() => {
      this.#changes.next(reason === undefined ? { state } : { state, reason });
      if (state === 'closed') this.#changes.complete();
    });
  }
}
