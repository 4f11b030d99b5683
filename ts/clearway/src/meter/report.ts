// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Stall, StallCause } from "./stall.js";

/** Both published readings of a hitch ratio, as words. `model/hitch.ts` has the limits. */
export interface HitchVerdicts {
  /** Up to 5 good, up to 10 warning, over 10 critical. */
  readonly strict: "good" | "warning" | "critical";
  /** Up to 10 good, up to 25 fair, up to 50 poor, over 50 critical. */
  readonly lenient: "good" | "fair" | "poor" | "critical";
}

/** Hitch time at one frame rate, with a verdict. */
export interface HitchReport {
  readonly hz: number;
  /** Milliseconds of hitch per second of run. */
  readonly msPerSecond: number;
  readonly verdicts: HitchVerdicts;
}

/** Expected and dropped frames at one frame rate. */
export interface FrameReport {
  readonly hz: number;
  /** The number of frames that fit into the run. */
  readonly expected: number;
  readonly dropped: number;
  /** Whether there are no real frames (Node, worker scopes, hidden pages), so that the figures are computed from the stalls. */
  readonly estimated: boolean;
}

/** The probability that an event waits longer than a limit. */
export interface WaitShare {
  readonly overMs: number;
  /** Probability, 0 to 1, that an event at a random moment waits longer than `overMs`. */
  readonly share: number;
}

/** One quantile of the stalls' lengths. */
export interface TailQuantile {
  readonly quantile: number;
  /** `null` if fewer than 20 stalls lie beyond this quantile, because the sample is too small. */
  readonly lengthMs: number | null;
}

/** Number and total length of the stalls with one cause. */
export interface CauseShare {
  readonly cause: StallCause;
  readonly stalls: number;
  readonly totalMs: number;
}

/** A source of evidence, and whether it is available here. */
export interface SourceState {
  readonly name: string;
  readonly available: boolean;
  /** The reason why the source is not available. */
  readonly why?: string;
}

/**
 * The stalls of one run, and all figures computed from them. Plain data: `JSON.stringify` keeps everything.
 *
 * Every length is in milliseconds. `startMs` counts from `startedAt`. All languages use this form: `spec/stalls.schema.json`.
 */
export interface StallReport {
  readonly kind: "clearway-stalls";
  readonly version: 1;
  readonly host: "node" | "node-worker" | "browser" | "browser-worker" | "jvm";
  readonly label?: string;
  /** The time in ISO 8601. */
  readonly startedAt: string;
  /** T: the time that `stalls` cover, without the time in which the page was hidden. */
  readonly durationMs: number;
  /** The minimum length of a recorded stall. */
  readonly floorMs: number;
  /** Every recorded stall of the covered time, in order. */
  readonly stalls: readonly Stall[];
  /** The number of older stalls that were dropped to bound the memory. The covered time starts after the last of them. */
  readonly droppedStalls: number;
  readonly longestMs: number;
  /** Mean wait of an event that arrives at a random moment: sum of b^2 / 2T. */
  readonly lagMeanMs: number;
  /** The longest possible wait of an event. The same as `longestMs`. */
  readonly lagMaxMs: number;
  /** Sum of all stall lengths. */
  readonly stalledMs: number;
  readonly stallsPerMinute: number;
  readonly waits: readonly WaitShare[];
  readonly hitch: HitchReport;
  readonly frames: FrameReport;
  readonly worstSecond: { readonly startMs: number; readonly stalledMs: number };
  readonly tail: readonly TailQuantile[];
  readonly causes: readonly CauseShare[];
  readonly sources: readonly SourceState[];
  /** The time for which the page was hidden. The run does not count it. */
  readonly hiddenMs: number;
}
