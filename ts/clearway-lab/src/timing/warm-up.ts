// SPDX-License-Identifier: MIT OR Apache-2.0
import { nowMs } from "#lab-host";
import { WarmUpDetector } from "../statistics/warm-up-detector.js";

/** Length of a window, in milliseconds: several calls of the slowest mechanism. Quick measurements use shorter windows. */
const WINDOW_MS = 20;

export interface WarmUp {
  /** Time from the first call to the end of the last window, in milliseconds. */
  ms: number;
  /** Mean time of a call in the fastest window, in milliseconds, exact to 5 %. */
  perCallMs: number;
  /** Whether the calls stopped getting faster before `msMax` was over. */
  warm: boolean;
}

/**
 * Repeats calls until they stop getting faster, or for `msMax` milliseconds. Runs at least one window of `windowMs`. Rejects if a
 * call rejects.
 */
export async function warmUp(
  call: () => Promise<unknown>,
  msMax: number,
  { windowMs = WINDOW_MS, clock = nowMs } = {},
): Promise<WarmUp> {
  const detector = new WarmUpDetector();
  const begin = clock();
  let windowBegin = begin;
  for (;;) {
    let calls = 0;
    let now: number;
    do {
      await call();
      calls++;
      now = clock();
    } while (now - windowBegin < windowMs);
    const warm = detector.isWarmAfter((now - windowBegin) / calls);
    if (warm || now - begin >= msMax) return { ms: now - begin, perCallMs: detector.best, warm };
    windowBegin = now;
  }
}
