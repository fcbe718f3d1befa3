// One listener for each signal, however many operations follow it: a signal warns of a leak from the
// eleventh listener on.

type Follower = () => void;

interface Following {
  readonly followers: Set<Follower>;
  readonly onAbort: () => void;
}

const followings = new WeakMap<AbortSignal, Following>();
// A program's own properties on its signal must not come between.
const { addEventListener, removeEventListener } = EventTarget.prototype;

/** Calls `follower` when the signal is aborted. */
export function followAbort(signal: AbortSignal, follower: Follower): void {
  let following = followings.get(signal);
  if (following === undefined) {
    const followers = new Set<Follower>();
    const onAbort = (): void => {
      followings.delete(signal);
      for (const each of [...followers]) each();
    };
    following = { followers, onAbort };
    followings.set(signal, following);
    addEventListener.call(signal, 'abort', onAbort, { once: true });
  }
  following.followers.add(follower);
}

export function unfollowAbort(signal: AbortSignal, follower: Follower): void {
  const following = followings.get(signal);
  if (following === undefined) return;
  following.followers.delete(follower);
  if (following.followers.size > 0) return;
  followings.delete(signal);
  removeEventListener.call(signal, 'abort', following.onAbort);
}
