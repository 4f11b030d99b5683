// SPDX-License-Identifier: MIT OR Apache-2.0

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;

/**
 * Timers and the clocks as they were when the library was loaded, so that the fake timers of an app's tests do not stop it. No other
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
  dateMs: Date.now,
};

/**
 * Returns a function that returns the time since now, in milliseconds, by the clock that has gone further: on Linux, the monotonic one stands
 * still while the machine is suspended.
 */
export function stopwatch(): () => number {
  const fromMs = timers.nowMs();
  const fromDateMs = timers.dateMs();
  return () => Math.max(timers.nowMs() - fromMs, timers.dateMs() - fromDateMs);
}

/** Longest time of a timer of Node, in milliseconds, which is 24 days. A longer one ends after 1 ms. */
export const timerMsMax = 2 ** 31 - 1;

/** The time and the timers of a pool or a server. Tests use a clock of their own. */
export interface Clock {
  /** Returns the time in milliseconds. It never goes back. */
  nowMs(): number;
  /**
   * Calls `act` once after the time, and after the messages that have arrived by then. Returns a function that prevents it.
   *
   * After a stall of this thread or a sleep of the machine, Node runs a timer before it reads the messages that wait. The answer may be among
   * them.
   */
  after(ms: number, act: () => void): () => void;
  /** Calls `act` again and again. Returns a function that ends it. Does not keep the process alive. */
  every(ms: number, act: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => timers.nowMs(),
  after(ms, act) {
    if (ms === Number.POSITIVE_INFINITY) return () => {};
    let immediate: NodeJS.Immediate | undefined;
    const wait = (leftMs: number): NodeJS.Timeout =>
      timers.setTimeout(
        () => {
          if (leftMs > timerMsMax) timer = wait(leftMs - timerMsMax);
          else immediate = timers.setImmediate(act);
        },
        Math.min(leftMs, timerMsMax),
      );
    let timer = wait(ms);
    return () => {
      timers.clearTimeout(timer);
      timers.clearImmediate(immediate);
    };
  },
  every(ms, act) {
    const timer = timers.setInterval(act, ms);
    timer.unref();
    return () => timers.clearInterval(timer);
  },
};

/** Waits for a step, at most a number of milliseconds. Never rejects: the servers may be away. The step itself goes on. */
export async function within(timeoutMs: number, step: Promise<unknown>): Promise<void> {
  await new Promise<void>((resolve) => {
    const disarm = systemClock.after(timeoutMs, resolve);
    const done = (): void => {
      disarm();
      resolve();
    };
    step.then(done, done);
  });
}
