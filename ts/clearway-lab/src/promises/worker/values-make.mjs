// SPDX-License-Identifier: MIT OR Apache-2.0
// The small objects that the streams and the bare workers send. Runs in workers of Node and of pages.

/** A small object. `sentMs` is the time at which it leaves, or 0. */
export const objectOf = (id, sentMs) => ({ id, sentMs, name: "row" });

/** The time in milliseconds, by a clock that all threads share. */
export const nowMs = () => performance.timeOrigin + performance.now();

/** Waits. In a page, a timer that is set inside another timer's callback waits for at least 4 ms; a task with a delay does not. */
export const rest = (ms) =>
  globalThis.scheduler?.postTask
    ? scheduler.postTask(() => {}, { delay: ms })
    : new Promise((resolve) => setTimeout(resolve, ms));
