// The wheel against a plain list of deadlines, under a clock that the test moves.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TimerEntry, TimerWheel } from '../../src/engine/timer-wheel.js';

/** Two ticks of the wheel: rounding up, and the Node timer's own milliseconds. */
const kLateMs = 9;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

class Timers {
  readonly wheel: TimerWheel = new TimerWheel(() => performance.now());
  readonly fired: number[] = [];
  readonly #entries: TimerEntry[] = [];

  entry(id: number): TimerEntry {
    this.#entries[id] ??= new TimerEntry(() => this.fired.push(id));
    return this.#entries[id];
  }
}

type Command =
  | { readonly kind: 'set'; readonly id: number; readonly timeoutMs: number }
  | { readonly kind: 'clear'; readonly id: number }
  | { readonly kind: 'wait'; readonly timeoutMs: number };

const id = fc.nat(7);
/** Up to three rounds of the wheel. */
const timeoutMs = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 6_500 }));
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), id, timeoutMs }),
  fc.record({ kind: fc.constant('clear' as const), id }),
  fc.record({ kind: fc.constant('wait' as const), timeoutMs }),
);

describe('the timer wheel', () => {
  it('fires each timeout once, never early and hardly late', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const timers = new Timers();
        const due = new Map<number, number>();
        for (const step of commands) {
          if (step.kind === 'set') {
            timers.wheel.set(timers.entry(step.id), step.timeoutMs);
            due.set(step.id, performance.now() + step.timeoutMs);
          } else if (step.kind === 'clear') {
            timers.wheel.clear(timers.entry(step.id));
            due.delete(step.id);
          } else {
            vi.advanceTimersByTime(step.timeoutMs);
          }
          for (const fired of timers.fired.splice(0)) {
            expect(due.get(fired)).toBeLessThanOrEqual(performance.now());
            due.delete(fired);
          }
          for (const deadline of due.values()) {
            expect(deadline).toBeGreaterThan(performance.now() - kLateMs);
          }
        }
      }),
    );
  });

  it('goes on with earlier timeouts when one that expires sets a later one', () => {
    const timers = new Timers();
    const later = timers.entry(1);
    const first = new TimerEntry(() => timers.wheel.set(later, 5_000));
    timers.wheel.set(first, 100);
    timers.wheel.set(timers.entry(2), 200);
    vi.advanceTimersByTime(200 + kLateMs);
    expect(timers.fired).toEqual([2]);
    vi.advanceTimersByTime(5_000);
    expect(timers.fired).toEqual([2, 1]);
  });

  it('goes on after an expiry that throws', () => {
    const timers = new Timers();
    const bad = new TimerEntry(() => {
      throw new Error('from an expiry');
    });
    timers.wheel.set(bad, 10);
    timers.wheel.set(timers.entry(1), 50);
    expect(() => vi.advanceTimersByTime(20)).toThrow('from an expiry');
    vi.advanceTimersByTime(50);
    expect(timers.fired).toEqual([1]);
  });

  it('sleeps while it is empty', () => {
    const { wheel } = new Timers();
    const entry = new TimerEntry(() => {});
    wheel.set(entry, 1000);
    expect(vi.getTimerCount()).toBe(1);
    wheel.clear(entry);
    wheel.clear(entry);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has one timer, whatever is in it', () => {
    const timers = new Timers();
    for (let index = 0; index < 1000; index++) timers.wheel.set(timers.entry(index), 1000 - index);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1010);
    expect(timers.fired).toHaveLength(1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets one that fires set or clear others', () => {
    const wheel = new TimerWheel(() => performance.now());
    const fired: string[] = [];
    const other = new TimerEntry(() => fired.push('other'));
    const again = new TimerEntry(() => {
      fired.push('again');
      wheel.clear(other);
      if (fired.length < 3) wheel.set(again, 10);
    });
    wheel.set(again, 10);
    wheel.set(other, 10);
    vi.advanceTimersByTime(200);
    expect(fired.filter((name) => name === 'again').length).toBeGreaterThanOrEqual(2);
    expect(fired.filter((name) => name === 'other').length).toBeLessThanOrEqual(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not lose a timeout when the thread was busy for longer than a round', () => {
    const timers = new Timers();
    timers.wheel.set(timers.entry(0), 100);
    timers.wheel.set(timers.entry(1), 3000);
    timers.wheel.set(timers.entry(2), 9000);
    vi.advanceTimersByTime(99);
    // Ten seconds pass in which no timer runs.
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 10_000);
    vi.advanceTimersByTime(20);
    expect(timers.fired.toSorted()).toEqual([0, 1, 2]);
    clock.mockRestore();
  });
});
