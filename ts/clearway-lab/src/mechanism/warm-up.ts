// SPDX-License-Identifier: MIT OR Apache-2.0
import { nowMs } from "#lab-host";
import { WarmUpJudge } from "../statistics/warm-up.js";

/** Long enough for some calls of the slowest; a quick measurement has time for shorter ones. */
const WINDOW_MS = 20;

export interface WarmUp {
  /** From the first call to the end of the last window. */
  ms: number;
  /** Mean of the quickest window, give or take 5 %. */
  perCallMs: number;
  /** Whether it got no quicker any more, before its time ended. */
  warm: boolean;
}

/**
 * Calls, one after the other, until that gets no quicker, or for `msMax` milliseconds. At least one window of `windowMs`. Rejects
 * as a call does.
 */
export async function warmUp(
  call: () => Promise<unknown>,
  msMax: number,
  { windowMs = WINDOW_MS, clock = nowMs } = {},
): Promise<WarmUp> {
  const judge = new WarmUpJudge();
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
    const warm = judge.isWarmAfter((now - windowBegin) / calls);
    if (warm || now - begin >= msMax) return { ms: now - begin, perCallMs: judge.best, warm };
    windowBegin = now;
  }
}
