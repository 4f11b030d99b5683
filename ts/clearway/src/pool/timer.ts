// SPDX-License-Identifier: MIT OR Apache-2.0

/** What `setTimeout` gives, in any host. */
export type Timer = ReturnType<typeof setTimeout>;

/** A timer of any length. Hosts count 24.8 days at most, and fire at once for more; that long is for ever here. */
export function after(ms: number, act: () => void): Timer {
  return setTimeout(act, Math.min(ms, 2 ** 31 - 1));
}

/** Whether a promise settles well within some milliseconds. Never rejects, and leaves no timer behind. */
export function within(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (inTime: boolean): void => {
      clearTimeout(timer);
      resolve(inTime);
    };
    const timer = after(limitMs, () => settle(false));
    promise.then(
      () => settle(true),
      () => settle(false),
    );
  });
}
