// SPDX-License-Identifier: MIT OR Apache-2.0
// What a trend consists of: plain data, which `clearway trend --json` prints and the page and the text show.
import type { HostName, Params } from "../protocol/message.js";
import type { Decision, Verdict } from "../statistics/decide.js";

/** A change that the intervals of two runs support. */
export interface Change {
  /** The number of the run in which it was seen, and of the run that it is compared with. */
  run: number;
  against: number;
  /** The later ratio / the earlier one. */
  factor: number;
  /** Whether it is better for the ratio's subject. */
  verdict: "better" | "worse";
  /** What differs between the runs, such as `commit: 0123 -> 4567`. Any of it may be the cause. */
  differs: string[];
}

/** One kept run. Its position in its machine's list is its number. */
export interface TrendRun {
  folder: string;
  startedAt: string;
  profile: string;
  commit: string | null;
  clearway: string;
  lab: string;
  /** The names and versions of everything else that could change a ratio: runtimes, compared libraries, the system. */
  versions: Record<string, string>;
}

/** A comparison in one run. */
export interface TrendPoint extends Pick<Decision, "ratio" | "low" | "high" | "rounds" | "floor"> {
  /** The number of the run. */
  run: number;
  verdict: Verdict;
  /** Why the comparison stayed open in spite of enough rounds. */
  why?: string;
}

/** A comparison in all runs of a machine that have it. */
export interface TrendSeries {
  key: string;
  /** The question that the comparison answers. Without one, the question of its scenario. */
  question: string;
  /** Which of the question's comparisons, or which cell. */
  label: string;
  host: HostName;
  scenario: string;
  metric: string;
  subject: string;
  reference: string;
  params: Params;
  /** Which ratio is better for the subject. */
  better: "lower" | "higher";
  /** In the order of the runs. At least one. */
  points: TrendPoint[];
  changes: Change[];
}

export interface TrendMachine {
  key: string;
  cpu: string;
  cores: number;
  memoryGb: number;
  /** The operating system without its version. */
  os: string;
  arch: string;
  virtual: string;
  /** The oldest first. */
  runs: TrendRun[];
  /** In the order of the newest run that has them. */
  series: TrendSeries[];
}

export interface Trend {
  /** The machine with the newest run first. */
  machines: TrendMachine[];
  /** The folders that were left out, each with its reason. */
  problems: { folder: string; problem: string }[];
}
