// SPDX-License-Identifier: MIT OR Apache-2.0

// A worker that is idle is let go of this much later, whatever became of its pool by then: `releaseMs` in `host/node.ts`.
const shortMs = 10;

/** Counts the timers of this thread that are set from now on. */
export function watchTimers(): { left(): Promise<string[]>; restore(): void } {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  const waiting = new Map<unknown, number>();
  let emptied: (() => void) | undefined;
  const gone = (timer: unknown): void => {
    if (waiting.delete(timer) && waiting.size === 0) emptied?.();
  };
  globalThis.setTimeout = ((act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const timer = set(() => {
      gone(timer);
      act(...args);
    }, ms);
    waiting.set(timer, ms);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
    gone(timer);
    clear(timer);
  }) as typeof clearTimeout;
  return {
    /** Those that are left, once the short ones are over. */
    left: async () => {
      const long = [...waiting.values()].filter((ms) => ms > shortMs).map((ms) => `a timer of ${ms} ms`);
      if (long.length === 0 && waiting.size > 0) {
        await new Promise<void>((resolve) => {
          emptied = resolve;
          // They do not keep the process; this does, and ends with them.
          for (const timer of waiting.keys()) (timer as NodeJS.Timeout).ref();
        });
      }
      return long;
    },
    restore: () => {
      globalThis.setTimeout = set;
      globalThis.clearTimeout = clear;
    },
  };
}
