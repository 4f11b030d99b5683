// SPDX-License-Identifier: MIT OR Apache-2.0

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;

/**
 * Timers and the monotonic clock as they were when the library was loaded, so that the fake timers of an app's tests do not stop it. No other
 * file uses the globals. The library's own tests replace members.
 */
export const timers = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  queueMicrotask: globalThis.queueMicrotask,
  nowMs: performance.now.bind(performance),
};

/** Longest time of a timer of Node, in milliseconds, which is 24 days. A longer one ends after 1 ms. */
export const timerMsMax = 2 ** 31 - 1;
