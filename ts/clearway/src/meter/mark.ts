// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#meter-host";
import { dispose, OwnPromise } from "../globals.js";
import type { MarkShare } from "./report.js";

/** The number of closed marks that are kept for unexplained stalls. docs/meter.md says what that means for a stall with more marks. */
const closedMarksMax = 512;

/** A mark that was set. */
export interface Entry {
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
 *
 * Throws `TypeError` for a label that is no string, and for a `run` that is no function.
 */
export function mark(label: string): Mark;
export function mark<R>(label: string, run: () => R): R;
export function mark<R>(label: string, run?: () => R): Mark | R {
  if (typeof label !== "string") throw new TypeError(`label must be a string: label=${typeof label}`);
  if (run !== undefined && typeof run !== "function")
    throw new TypeError(`run must be a function: run=${run === null ? run : typeof run}`);
  const entry: Entry = { label, startMs: now(), endMs: undefined };
  open.add(entry);
  const end = (): void => {
    if (!open.delete(entry)) return;
    entry.endMs = now();
    closed[nextClosed] = entry;
    nextClosed = (nextClosed + 1) % closedMarksMax;
  };
  // Older browsers lack the symbol. Compilers translate `using` to this same fallback.
  if (!run) return { end, [dispose]: end } as Mark;
  let result: R;
  try {
    result = run();
  } catch (error) {
    end();
    throw error;
  }
  if (result instanceof OwnPromise) {
    result.then(end, end);
    return result;
  }
  end();
  return result;
}

/** Returns the marks that were open between two moments, longest overlap first. */
export function marksDuring(startMs: number, endMs: number): MarkShare[] {
  return sharesOf([...closed, ...open], startMs, endMs);
}

/**
 * Returns how long each label was open in an interval, longest first. Time in several marks of one label counts once. Sorts `marks` by
 * their starts.
 */
export function sharesOf(marks: Entry[], fromMs: number, untilMs: number): MarkShare[] {
  const shares = new Map<string, { coveredMs: number; overlapMs: number }>();
  for (const { label, startMs, endMs = untilMs } of marks.sort((a, b) => a.startMs - b.startMs)) {
    const share = shares.get(label) ?? { coveredMs: fromMs, overlapMs: 0 };
    const toMs = Math.min(untilMs, endMs);
    const gainMs = toMs - Math.max(share.coveredMs, startMs);
    if (gainMs <= 0) continue;
    share.overlapMs += gainMs;
    share.coveredMs = toMs;
    shares.set(label, share);
  }
  return [...shares].map(([label, { overlapMs }]) => ({ label, overlapMs })).sort((a, b) => b.overlapMs - a.overlapMs);
}
