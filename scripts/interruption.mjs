// SPDX-License-Identifier: MIT OR Apache-2.0
// Interruptions of a command: Ctrl-C, `kill`, and a closed terminal.

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Two signals within this time are one, in milliseconds. A terminal sends Ctrl-C to the command and to `npx`. Where the system's `sh` is
 * bash, `npx` sends it to the command once more.
 */
const SAME_MS = 300;

/**
 * Calls `interrupted` with true at the first interruption, and with false at each further one. Returns a function that stops that.
 *
 * @param {(isFirst: boolean) => void} interrupted
 * @param {Pick<NodeJS.EventEmitter, "on" | "off">} signals
 * @param {() => number} nowMs
 * @returns {() => void}
 */
export function onInterruption(interrupted, signals = process, nowMs = () => performance.now()) {
  /** @type {number | undefined} */
  let firstMs;
  const listener = () => {
    const isFirst = firstMs === undefined;
    firstMs ??= nowMs();
    if (isFirst || nowMs() - firstMs >= SAME_MS) interrupted(isFirst);
  };
  for (const signal of SIGNALS) signals.on(signal, listener);
  return () => {
    for (const signal of SIGNALS) signals.off(signal, listener);
  };
}
