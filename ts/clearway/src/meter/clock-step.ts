// SPDX-License-Identifier: MIT OR Apache-2.0

/** Number of steps that are seen before one is believed. The first is a part of a step. */
const stepsSeen = 3;
/** Number of reads without a step after which the clock counts as standing. They take 2 to 5 ms. */
const readsMax = 50_000;

/** The largest step of a clock with which stalls can be measured, in milliseconds: browsers that hide the time from pages have 16.7 or more. */
export const clockStepMsMax = 5;

/**
 * Returns the step of a clock in milliseconds. Browsers round the clock of a page: to 0.005 in Chromium's isolated pages, to 1 in other
 * pages of Firefox and WebKit. Reads the clock until it has stepped a few times, which blocks the thread for up to three steps. Returns
 * Infinity for a clock that does not step meanwhile.
 */
export function clockStepOf(read: () => number): number {
  let stepMs = Number.POSITIVE_INFINITY;
  let lastMs = read();
  let seen = 0;
  for (let reads = 0; reads < readsMax && seen < stepsSeen; reads++) {
    const atMs = read();
    if (atMs === lastMs) continue;
    if (seen++ > 0) stepMs = Math.min(stepMs, atMs - lastMs);
    lastMs = atMs;
  }
  return stepMs;
}

/** Says why nothing is measured with a clock that has larger steps. */
export const tooCoarse = `this clock steps more than ${clockStepMsMax} ms, so nothing can be measured here`;
