// SPDX-License-Identifier: MIT OR Apache-2.0
import { globals } from "../../../src/globals.js";

// `releaseMs` in `host/node.ts`: an idle worker is unreferenced after this time, even when its pool has ended by then.
const shortMs = 10;

/** Starts counting this thread's timers. */
export function watchTimers(): { left(): Promise<string[]>; restore(): void } {
  const { setTimeout: set, clearTimeout: clear } = globals;
  const waiting = new Map<unknown, number>();
  let emptied: (() => void) | undefined;
  const gone = (timer: unknown): void => {
    if (waiting.delete(timer) && waiting.size === 0) emptied?.();
  };
  globals.setTimeout = (act, ms = 0) => {
    const timer = set(() => {
      gone(timer);
      act();
    }, ms);
    waiting.set(timer, ms);
    return timer;
  };
  globals.clearTimeout = (timer) => {
    gone(timer);
    clear(timer);
  };
  return {
    /** Returns the remaining timers, after the short ones have fired. */
    left: async () => {
      const long = [...waiting.values()].filter((ms) => ms > shortMs).map((ms) => `a timer of ${ms} ms`);
      if (long.length === 0 && waiting.size > 0) {
        await new Promise<void>((resolve) => {
          emptied = resolve;
          // These timers are unreferenced. This keeps the process alive until they have fired.
          for (const timer of waiting.keys()) (timer as NodeJS.Timeout).ref();
        });
      }
      return long;
    },
    restore: () => {
      globals.setTimeout = set;
      globals.clearTimeout = clear;
    },
  };
}
