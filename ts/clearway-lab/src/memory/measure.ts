// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures fills of one size, one after the other. Warm memory was filled before; fresh memory is requested for each fill.
import { nowMs } from "#lab-host";
import { type Measured, type Mechanism, numberParam, textParam } from "../protocol/measured.js";

/** Number of bytes in a batch of warm fills. Small fills need batches: reading the clock takes as long as a fill of 4 KB. */
const BATCH_BYTES = 1 << 18;
/** Maximum number of warm-up fills. It is lower if fewer fills are timed. */
const WARM_UP_MAX = 20;

export const fillsPerBatch = (bytes: number, fresh: boolean): number => (fresh ? 1 : Math.max(1, BATCH_BYTES / bytes));

export function fillMechanism(open: (bytes: number) => Filler | Promise<Filler>): Mechanism {
  return async ({ params }) => {
    const bytes = numberParam(params, "bytes");
    const fresh = textParam(params, "memory") === "fresh";
    const repetitions = numberParam(params, "repetitions");
    // Only the first fill may begin after this time. Otherwise a mechanism whose fills take seconds would repeat them a thousand times.
    const timeMs = numberParam(params, "timeMsMax");
    const batch = fillsPerBatch(bytes, fresh);
    const filler = await open(bytes);
    try {
      const end = nowMs() + timeMs;
      for (let i = 0; i < Math.min(repetitions, WARM_UP_MAX) && nowMs() < end - timeMs / 2; i++)
        await filler.fill(i & 255);
      const ns: number[] = [];
      const faults = countFaults();
      while (ns.length < repetitions && (ns.length === 0 || nowMs() < end)) {
        const value = ns.length & 255;
        if (fresh) filler.release?.();
        const begin = nowMs();
        if (fresh) filler.renew();
        for (let i = 0; i < batch; i++) {
          const done = filler.fill(value);
          // A synchronous fill is not awaited, because that would add a microtask.
          if (done !== undefined) await done;
        }
        ns.push(((nowMs() - begin) * 1e6) / batch);
      }
      const pageFaults = faults() / (ns.length * batch);
      const filled = filler.holds((ns.length - 1) & 255);
      return measuredFills(ns, filled, batch, pageFaults);
    } finally {
      await filler.close();
    }
  };
}

/**
 * Starts to count the page faults of the process that need no disk. The returned function returns their number so far. The kernel maps
 * memory when it is first touched, a page or a huge page at a time; each such fault stops the thread.
 */
export function countFaults(): () => number {
  const before = process.resourceUsage().minorPageFault;
  return () => process.resourceUsage().minorPageFault - before;
}

export function measuredFills(ns: ArrayLike<number>, filled: boolean, batch: number, pageFaults: number): Measured {
  return {
    samples: { fill: { unit: "us", ns, batch } },
    values: { pageFaults: { unit: "count", value: pageFaults } },
    result: { filled },
  };
}

// Fills a buffer with native code.

export interface Filler {
  /** Requests new memory in place of the old. Called only in the fresh series, and timed. */
  renew(): void;
  /** Releases the memory that `renew` replaces, if the garbage collector does not. Called only in the fresh series, not timed. */
  release?(): void;
  /** Fills the buffer with `value`. This call is timed. */
  fill(value: number): void | Promise<void>;
  /** Returns whether every byte of the filled memory is `value`. */
  holds(value: number): boolean;
  close(): void | Promise<void>;
}

export const allBytesAre = (bytes: ArrayLike<number>, value: number): boolean => {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== value) return false;
  return true;
};
