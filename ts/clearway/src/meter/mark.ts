// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#meter-host";
import type { MarkShare } from "./stall.js";

/** The number of closed marks that are kept for unexplained stalls. At 1 mark per ms, 512 marks last longer than any explanation takes. */
const closedMarksMax = 512;

interface Entry {
  readonly label: string;
  readonly startMs: number;
  endMs: number | undefined;
}

const open = new Set<Entry>();
const closed: Entry[] = [];
let nextClosed = 0;

/** An open label. It ends at the end of a `using` block, or when `end()` is called. */
export interface Mark {
  /** Ends the label. Further calls do nothing. */
  end(): void;
  /** Ends the label at the end of a `using` block. */
  [Symbol.dispose](): void;
}

/**
 * Labels the work that runs from now on. Stalls in this time carry the label.
 *
 * With a function, labels the function's run and returns its result. If the function returns a promise, the label ends when the promise
 * settles. The label of an async function covers all work on this thread until then, even unrelated work. A report therefore says that a
 * stall fell into the mark, not that the labelled work caused the stall.
 */
export function mark(label: string): Mark;
export function mark<R>(label: string, run: () => R): R;
export function mark<R>(label: string, run?: () => R): Mark | R {
  const entry: Entry = { label, startMs: now(), endMs: undefined };
  open.add(entry);
  const end = (): void => {
    if (!open.delete(entry)) return;
    entry.endMs = now();
    closed[nextClosed] = entry;
    nextClosed = (nextClosed + 1) % closedMarksMax;
  };
  // Older browsers lack the symbol. Compilers translate `using` to this same fallback.
  const dispose: typeof Symbol.dispose = Symbol.dispose ?? Symbol.for("Symbol.dispose");
  if (!run) return { end, [dispose]: end } as Mark;
  let result: R;
  try {
    result = run();
  } catch (error) {
    end();
    throw error;
  }
  if (result instanceof Promise) {
    result.then(end, end);
    return result;
  }
  end();
  return result;
}

/** Returns the marks that were open between two moments, longest overlap first. Time in several marks of one label counts once. */
export function marksDuring(startMs: number, endMs: number): MarkShare[] {
  const overlaps = new Map<string, { untilMs: number; overlapMs: number }>();
  for (const { label, ...entry } of [...closed, ...open].sort((a, b) => a.startMs - b.startMs)) {
    const toMs = Math.min(endMs, entry.endMs ?? endMs);
    if (toMs <= Math.max(startMs, entry.startMs)) continue;
    const share = overlaps.get(label) ?? { untilMs: startMs, overlapMs: 0 };
    overlaps.set(label, share);
    share.overlapMs += Math.max(0, toMs - Math.max(share.untilMs, entry.startMs));
    share.untilMs = Math.max(share.untilMs, toMs);
  }
  return [...overlaps]
    .map(([label, { overlapMs }]) => ({ label, overlapMs }))
    .sort((a, b) => b.overlapMs - a.overlapMs);
}
