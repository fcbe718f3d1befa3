// The completions of a connection as an observable. The engine collects them only while somebody is
// subscribed.
import { Observable, Subject } from 'rxjs';
import type { ConnectionCore } from '../engine/connection-core.js';
import type { WorkCompletion } from '../engine/work-completion.js';
import type { ConnectionStates } from './connection-states.js';

export class ConnectionCompletions {
  readonly observable: Observable<WorkCompletion[]>;
  /** The Connection: who is subscribed holds it, and with it the engine. */
  readonly holder: object;
  readonly #drains = new Subject<WorkCompletion[]>();

  constructor(core: ConnectionCore, states: ConnectionStates, holder: object) {
    this.holder = holder;
    const deliver = (completions: WorkCompletion[]): void => {
      states.run(() => this.#drains.next(completions));
    };
    this.observable = new Observable((subscriber) => {
      subscriber.add(this.#drains.subscribe(subscriber));
      if (subscriber.closed) return;
      core.onCompletions = deliver;
      subscriber.add(() => {
        if (!this.#drains.observed) core.onCompletions = undefined;
      });
    });
    void core.closed.then(() => states.run(() => this.#drains.complete()));
  }
}
