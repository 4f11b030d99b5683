// SPDX-License-Identifier: MIT OR Apache-2.0
import type { StallCause } from "../stall.js";
import type { Amounts } from "./amounts.js";
import { boundsS, type CounterName } from "./instruments.js";

/** The counted stalls of one scope. */
export interface ScopeTotals {
  /** The scope's labels as they are written, without braces. Empty if there are none. */
  readonly labels: string;
  readonly causes: Map<StallCause, { count: number; sumS: number; readonly buckets: number[] }>;
  readonly counters: Record<Exclude<CounterName, "mark">, number>;
  /** Stalled seconds by label of a mark. */
  readonly marks: Map<string, number>;
}

export function emptyTotals(labels: string): ScopeTotals {
  return { labels, causes: new Map(), counters: { gc: 0, machine: 0, hitch: 0, frames: 0 }, marks: new Map() };
}

/** Counts one stall. */
export function addTo(totals: ScopeTotals, cause: StallCause, amounts: Amounts): void {
  let own = totals.causes.get(cause);
  if (!own) {
    own = { count: 0, sumS: 0, buckets: boundsS.map(() => 0) };
    totals.causes.set(cause, own);
  }
  own.count++;
  own.sumS += amounts.lengthS;
  const bucket = boundsS.findIndex((bound) => amounts.lengthS <= bound);
  if (bucket >= 0) own.buckets[bucket]!++;
  for (const name of Object.keys(totals.counters) as (keyof ScopeTotals["counters"])[])
    totals.counters[name] += amounts[name];
  for (const { label, timeS } of amounts.marks) totals.marks.set(label, (totals.marks.get(label) ?? 0) + timeS);
}
