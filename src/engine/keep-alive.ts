// Counts what keeps the event loop alive, and tells native code when that begins and ends.
export class KeepAlive {
  readonly #apply: (alive: boolean) => void;
  #count = 0;

  constructor(apply: (alive: boolean) => void) {
    this.#apply = apply;
  }

  add(): void {
    if (this.#count++ === 0) this.#apply(true);
  }

  remove(): void {
    if (--this.#count === 0) this.#apply(false);
  }

  /** Keeps the loop alive until the promise settles. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.add();
    try {
      return await work;
    } finally {
      this.remove();
    }
  }
}
