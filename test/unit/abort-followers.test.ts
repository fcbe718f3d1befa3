import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { followAbort, unfollowAbort } from '../../src/engine/abort-followers.js';

test('a signal has one listener, however many follow it, and none once nobody does', () => {
  const { signal } = new AbortController();
  const followers = Array.from({ length: 50 }, () => vi.fn());
  for (const follower of followers) followAbort(signal, follower);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const follower of followers) unfollowAbort(signal, follower);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

test('an abort reaches everybody that follows then, once', () => {
  const controller = new AbortController();
  const [stays, leaves, late] = [vi.fn(), vi.fn(), vi.fn()];
  followAbort(controller.signal, leaves);
  followAbort(controller.signal, stays);
  unfollowAbort(controller.signal, leaves);
  controller.abort();
  unfollowAbort(controller.signal, stays);
  unfollowAbort(controller.signal, late);
  expect([stays, leaves].map((each) => each.mock.calls.length)).toEqual([1, 0]);
});

test('a signal whose own methods throw is followed all the same', () => {
  const controller = new AbortController();
  const fails = (): never => {
    throw new Error('mine');
  };
  Object.assign(controller.signal, { addEventListener: fails, removeEventListener: fails });
  const follower = vi.fn();
  followAbort(controller.signal, follower);
  controller.abort();
  expect(follower).toHaveBeenCalledOnce();
});
