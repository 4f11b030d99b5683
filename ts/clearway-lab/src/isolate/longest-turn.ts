// SPDX-License-Identifier: MIT OR Apache-2.0
// The longest time for which the calling thread did not turn its event loop, without the millisecond of a timer.
import { nowMs, turn } from "#lab-host";

/** What the measurement uses of its host. Tests replace it. */
export interface TurnClock {
  nowMs(): number;
  /** Resolves in the next turn of the event loop. */
  turn(): Promise<void>;
}

/**
 * Runs `work` and turns the event loop until it settles. Returns the longest time between two turns, in milliseconds: while the loop does
 * not turn, the thread draws nothing. The synchronous part of `work` counts. Keeps the thread busy. Rejects with the error of `work`.
 */
export async function longestTurnMs(work: () => Promise<unknown>, clock: TurnClock = { nowMs, turn }): Promise<number> {
  let settled = false;
  let longestMs = 0;
  let turnedMs = clock.nowMs();
  const note = () => {
    const now = clock.nowMs();
    longestMs = Math.max(longestMs, now - turnedMs);
    turnedMs = now;
  };
  const done = work().finally(() => {
    settled = true;
  });
  // The loop below may still turn when `done` rejects. The rejection is reported by the await at the end.
  done.catch(() => {});
  while (!settled) {
    note();
    await clock.turn();
  }
  note();
  await done;
  return longestMs;
}
