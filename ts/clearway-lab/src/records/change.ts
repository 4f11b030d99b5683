// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the runs in which a ratio changed with evidence, and what else differs between the two runs.
import { FLOOR_UNKNOWN, ROUNDS_MIN } from "../statistics/decide.js";
import type { Change, TrendPoint, TrendRun, TrendSeries } from "./trend-data.js";

/**
 * Returns the changes of a series. A run is compared with the run before it, and with the first run after the last change, which finds a
 * slow drift. A change needs all of: enough rounds in both runs; intervals that do not overlap; and medians that differ by more than the
 * larger noise floor of the two runs.
 */
export function changesOf(
  { points, better }: Pick<TrendSeries, "points" | "better">,
  runs: readonly TrendRun[],
): Change[] {
  const changes: Change[] = [];
  let level = 0;
  for (let at = 1; at < points.length; at++) {
    const point = points[at]!;
    const before = [points[at - 1]!, points[level]!].find((each) => differ(each, point));
    if (before === undefined) continue;
    const factor = point.ratio / before.ratio;
    const isBetter = factor < 1 === (better === "lower");
    changes.push({
      run: point.run,
      against: before.run,
      factor,
      verdict: isBetter ? "better" : "worse",
      differs: differencesOf(runs[before.run]!, runs[point.run]!),
    });
    level = at;
  }
  return changes;
}

/** Returns whether two ratios of different runs differ with evidence. */
function differ(a: TrendPoint, b: TrendPoint): boolean {
  if (Math.min(a.rounds, b.rounds) < ROUNDS_MIN || a.why !== undefined || b.why !== undefined) return false;
  if (a.low <= b.high && b.low <= a.high) return false;
  const factor = Math.max(a.ratio / b.ratio, b.ratio / a.ratio);
  return factor > Math.max(a.floor ?? FLOOR_UNKNOWN, b.floor ?? FLOOR_UNKNOWN);
}

function differencesOf(a: TrendRun, b: TrendRun): string[] {
  const facts = ({ commit, clearway, lab, profile, versions }: TrendRun) => ({
    ...{ commit: commit ?? "unknown", Clearway: clearway, "version of the lab": lab, profile },
    ...versions,
  });
  const [first, second]: Record<string, string>[] = [facts(a), facts(b)];
  // A host or library that only one of the runs has is no cause.
  return Object.keys(first!)
    .filter((name) => second![name] !== undefined && first![name] !== second![name])
    .map((name) => `${name}: ${first![name]} -> ${second![name]}`);
}
