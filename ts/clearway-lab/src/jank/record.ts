// SPDX-License-Identifier: MIT OR Apache-2.0
// What `clearway jank` found out: plain data, which `--json` prints and the texts and the page show.
import type { SourceState, StallReport } from "clearway/meter";
import type { DeviceTime } from "../ratio/device-time.js";
import type { Cause } from "./cause.js";
import type { BudgetResult, Figures } from "./figures.js";
import type { OriginalPlace } from "./source-map.js";

/**
 * How a run ended. `completed`: all steps are done, or the script ended with status 0. `timeout`: the limit of `--timeout` was reached.
 * `interrupted`: by Ctrl-C. `failed`: a step could not be done, the page did not load, the script ended with another status. `closed`: the
 * page closed itself. `crashed`: the page's or the script's process ended.
 */
export type Outcome = "completed" | "timeout" | "interrupted" | "failed" | "closed" | "crashed";

export interface End {
  readonly outcome: Outcome;
  /** What went wrong, where, and what to do. Undefined if the run completed. */
  readonly message?: string;
}

export interface LocatedCause extends Cause {
  /** The place before bundling, if a source map tells it. */
  readonly original?: OriginalPlace;
  /** The text of the line that ran, as the engine saw it. */
  readonly code?: string;
  /** Whether the script comes from another origin than the page. */
  readonly thirdParty: boolean;
}

export interface FoundStall {
  /** Milliseconds since the start of the run. */
  readonly startMs: number;
  readonly lengthMs: number;
  readonly errorMs: number;
  /** Whether the run ended before the stall did. Its length is then known from the profile alone. */
  readonly open?: true;
  /** The step in which the stall began: `load`, `click #go`. Empty for a script. */
  readonly during: string;
  readonly cause: LocatedCause;
}

export interface Run extends End {
  readonly startedAt: string;
  readonly figures: Figures;
  readonly stalls: readonly FoundStall[];
  /** What ran in the last second of a run that did not complete. */
  readonly last?: LocatedCause;
  /** How many cores other programs used right before the run, and how many there are. */
  readonly others?: { readonly cores: number; readonly of: number };
  /** Facts that a reader must know to trust the figures, one sentence each. */
  readonly notes: readonly string[];
  readonly sources: readonly SourceState[];
  /** The meter's own reports, in the form of spec/stalls.schema.json: one for each document of a page, one for a script. */
  readonly reports: readonly StallReport[];
}

/** Returns the runs that have a subject's figures: those that completed, or all if none did. A run that failed is shorter than the others. */
export function countedRuns(runs: readonly Run[]): readonly Run[] {
  const whole = runs.filter(({ outcome }) => outcome === "completed");
  return whole.length > 0 ? whole : runs;
}

export interface CauseGroup {
  readonly cause: LocatedCause;
  readonly stalls: number;
  readonly totalMs: number;
  readonly longestMs: number;
  /** The steps in which these stalls began. */
  readonly during: readonly string[];
}

/** The figures of a subject in the time of another device. */
export interface There {
  /** How many times as long the other device takes. */
  readonly ratio: number;
  readonly figures: Figures;
}

export interface Subject {
  /** As on the command line. */
  readonly name: string;
  readonly role: "subject" | "baseline";
  readonly kind: "page" | "script";
  readonly runs: readonly Run[];
  /** The median of each figure over the runs that completed. */
  readonly figures: Figures;
  /** With `--device`: the same in that device's time. */
  readonly there?: There;
  /** The causes of all runs, the one with most time first. */
  readonly causes: readonly CauseGroup[];
}

export interface ComparedFigure {
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** Geometric mean of after / before over the pairs. `null` if a figure is 0. */
  readonly ratio: number | null;
  readonly ratioMin: number | null;
  readonly ratioMax: number | null;
  readonly pairs: number;
}

export interface JankReport {
  readonly kind: "clearway-jank";
  readonly version: 1;
  readonly startedAt: string;
  /** The browser or the Node that ran the subjects. */
  readonly runtime: string;
  readonly steps: readonly string[];
  readonly repeat: number;
  /** The subject first, then the baseline of `--against`. */
  readonly subjects: readonly Subject[];
  readonly comparison: readonly ComparedFigure[];
  readonly budget: readonly BudgetResult[];
  /** The device of `--device`. */
  readonly device?: DeviceTime;
  /** What a reader must know to trust the device's times, one sentence each. */
  readonly deviceNotes?: readonly string[];
}
