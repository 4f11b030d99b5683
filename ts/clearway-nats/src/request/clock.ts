// SPDX-License-Identifier: MIT OR Apache-2.0
import { timerMsMax, timers } from "../timer.js";

/** The time and the timers of a pool or a server. Tests use a clock of their own. */
export interface Clock {
  /** Returns the time in milliseconds. It never goes back. */
  nowMs(): number;
  /** Calls `act` once after the time. Returns a function that prevents it. */
  after(ms: number, act: () => void): () => void;
  /** Calls `act` again and again. Returns a function that ends it. Does not keep the process alive. */
  every(ms: number, act: () => void): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  nowMs: () => timers.nowMs(),
  after(ms, act) {
    if (ms === Number.POSITIVE_INFINITY) return () => {};
    const wait = (leftMs: number): NodeJS.Timeout =>
      timers.setTimeout(
        () => {
          if (leftMs > timerMsMax) timer = wait(leftMs - timerMsMax);
          else act();
        },
        Math.min(leftMs, timerMsMax),
      );
    let timer = wait(ms);
    return () => timers.clearTimeout(timer);
  },
  every(ms, act) {
    const timer = timers.setInterval(act, ms);
    timer.unref();
    return () => timers.clearInterval(timer);
  },
};
