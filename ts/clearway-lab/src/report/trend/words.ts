// SPDX-License-Identifier: MIT OR Apache-2.0
// The sentences of a trend, for the page and for a terminal.
import type { Change, Trend, TrendMachine, TrendPoint, TrendRun, TrendSeries } from "../../records/trend-data.js";
import { rangeText } from "../answer-text.js";
import { hostTitle } from "../host-titles.js";
import { loadText } from "../load-text.js";
import { times } from "../number.js";

/** The title of the page. */
export const TREND_TITLE = "Clearway lab trend";

/** Explains what a trend compares. */
export const RATIOS_ONLY =
  "Each figure is a ratio of two mechanisms that one run measured in the same rounds. Ratios of different runs can be compared; times cannot, because no two runs have the same machine state, so a trend has none.";

/** Explains when a change is marked. */
export const CHANGE_RULE =
  "A change is marked if the intervals of the two runs do not overlap and their ratios differ by more than the noise of both runs. A run is compared with the one before it and with the first one after the last change.";

/** Says how many runs there are, and how many comparisons changed. */
export function headline({ machines }: Trend): string {
  const runs = machines.reduce((sum, each) => sum + each.runs.length, 0);
  if (runs === 0) return "No run is kept yet.";
  const kept = `${counted(runs, "kept run")} on ${counted(machines.length, "machine")}`;
  const several = machines.flatMap(({ series }) => series).filter(({ points }) => points.length > 1);
  if (several.length === 0) return `${kept}: no comparison has a second run yet.`;
  const changed = several.filter(({ changes }) => changes.length > 0).length;
  return `${kept}: ${changed === 0 ? "none" : changed} of ${counted(several.length, "comparison")} changed.`;
}

/** Says what to do if there is nothing to compare. Empty otherwise. */
export function nextSteps({ machines }: Trend): string[] {
  if (machines.length === 0)
    return [
      "Measure and keep a run: clearway lab --out out, then clearway keep out.",
      "Do the same after the next change, on the same machine.",
    ];
  if (machines.every(({ runs }) => runs.length === 1))
    return [
      "A trend needs a second run of a machine: measure again after a change (clearway lab --out out), then clearway keep out.",
    ];
  return [];
}

/** Names a machine: its CPU, memory and operating system. */
export function machineTitle({ cpu, cores, memoryGb, os, arch, virtual }: TrendMachine): string {
  return `${cpu}, ${counted(cores, "core")}, ${Math.round(memoryGb)} GB, ${os} ${arch}${virtual === "virtual machine" ? ", virtual machine" : ""}`;
}

/** Says how many runs a machine has, and of which days and builds. */
export function runsText({ runs }: TrendMachine): string {
  const [first, last] = [runs[0]!, runs.at(-1)!];
  if (runs.length === 1) return `One run, of ${runText(first)}.`;
  if (runText(first) === runText(last)) return `${runs.length} runs of ${runText(first)}.`;
  return `${runs.length} runs, from ${runText(first)} to ${runText(last)}.`;
}

export function runText({ startedAt, clearway, commit }: TrendRun): string {
  return `${dayOf(startedAt)} (Clearway ${clearway}${commit === null ? "" : `, commit ${commit}`})`;
}

export function dayOf(startedAt: string): string {
  return startedAt.slice(0, 10);
}

export function minuteOf(startedAt: string): string {
  return startedAt.slice(0, 16).replace("T", " ");
}

/** Groups the comparisons of a machine by their question. */
export function byQuestion({ series }: TrendMachine): [question: string, own: TrendSeries[]][] {
  const groups = new Map<string, TrendSeries[]>();
  for (const each of series) groups.set(each.question, [...(groups.get(each.question) ?? []), each]);
  return [...groups];
}

/** Returns a name for each comparison of a question that tells it from the others. */
export function names(own: readonly TrendSeries[]): Map<TrendSeries, string> {
  const levels: ((series: TrendSeries) => string)[] = [
    ({ label }) => label,
    ({ label, host, params }) => [label, hostTitle(host), loadText(params)].filter((part) => part !== "").join(", "),
    ({ label, host, params }) =>
      [label, hostTitle(host), ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join(", "),
    ({ label, host, params, metric }) =>
      [label, hostTitle(host), metric, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join(", "),
  ];
  return new Map(
    own.map((series) => {
      // A comparison without a label of its own is named by its cells, which need their host and load.
      const usable = levels.slice(series.label.includes(" / ") ? 1 : 0);
      const alone = usable.find((name) => own.every((other) => other === series || name(other) !== name(series)));
      return [series, (alone ?? usable.at(-1)!)(series)];
    }),
  );
}

/** Returns a point as `1.17 times (1.11 to 1.22 times)`. */
export function pointText(point: TrendPoint): string {
  return `${times(point.ratio)} (${rangeText(point)})`;
}

/** Says from where to where a ratio went, and what else differs between the two runs. */
export function changeText(
  change: Change,
  { points }: TrendSeries,
  runs: readonly TrendRun[],
): { what: string; differs: string } {
  const at = (run: number) => points.find((point) => point.run === run)!;
  const [before, after] = [at(change.against), at(change.run)];
  const differs =
    change.differs.length === 0
      ? "Nothing that the runs record differs: the same build, runtimes and libraries. Suspect the machine, and measure again"
      : `Differs: ${change.differs.join("; ")}`;
  return {
    what: `${change.verdict} on ${dayOf(runs[change.run]!.startedAt)}: ${pointText(after)}, before ${pointText(before)} on ${dayOf(runs[change.against]!.startedAt)}`,
    differs,
  };
}

/** Says what the line of a comparison shows, for readers who do not see it. */
export function lineText(name: string, series: TrendSeries, runs: readonly TrendRun[]): string {
  const { points, changes } = series;
  const [first, last] = [points[0]!, points.at(-1)!];
  if (points.length === 1) return `${name}: one run, ${pointText(first)}.`;
  const seen = changes.map((change) => changeText(change, series, runs).what).join("; ");
  return `${name}: ${points.length} runs, from ${pointText(first)} to ${pointText(last)}. ${seen === "" ? "No change with evidence" : `Changed: ${seen}`}.`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
