// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Stall, StallCause } from "./stall.js";

/** Both published readings of a hitch ratio, in words. See `model/hitch.ts` for the limits. */
export interface HitchVerdicts {
  /** 5 and under good, over 5 to 10 warning, over 10 critical. */
  readonly strict: "good" | "warning" | "critical";
  /** 10 and under good, to 25 fair, to 50 poor, over 50 critical. */
  readonly lenient: "good" | "fair" | "poor" | "critical";
}

export interface HitchReport {
  readonly hz: number;
  /** Milliseconds of hitch per second of run. */
  readonly msPerSecond: number;
  readonly verdicts: HitchVerdicts;
}

export interface FrameReport {
  readonly hz: number;
  /** Frames that the run had room for. */
  readonly expected: number;
  readonly dropped: number;
  /** True where no real frames exist (Node, worker scopes, hidden pages): computed from the stalls. */
  readonly estimated: boolean;
}

export interface WaitShare {
  readonly overMs: number;
  /** Probability, 0 to 1, that an event arriving at a random moment waits longer than `overMs`. */
  readonly share: number;
}

export interface TailQuantile {
  readonly quantile: number;
  /** `null` where fewer than 20 stalls lie beyond this quantile: the sample cannot carry it. */
  readonly lengthMs: number | null;
}

export interface CauseShare {
  readonly cause: StallCause;
  readonly stalls: number;
  readonly totalMs: number;
}

/** A source of evidence, and whether it could be had here. */
export interface SourceState {
  readonly name: string;
  readonly available: boolean;
  /** Why not, where it is not available. */
  readonly why?: string;
}

/**
 * One run's stalls and everything computed from them. Plain data: `JSON.stringify` keeps all of it.
 * Every length is in milliseconds; `startMs` counts from `startedAt`. The same in every language: `spec/stalls.schema.json`.
 */
export interface StallReport {
  readonly kind: "clearway-stalls";
  readonly version: 1;
  readonly host: "node" | "node-worker" | "browser" | "browser-worker" | "jvm";
  readonly label?: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** T: the time covered by `stalls`; time while the page was hidden is left out. */
  readonly durationMs: number;
  /** Shorter stalls are not recorded. */
  readonly floorMs: number;
  /** Every recorded stall of the covered time, in order. */
  readonly stalls: readonly Stall[];
  /** Recorded earlier, then dropped to keep memory bounded; the covered time starts after the last of them. */
  readonly droppedStalls: number;
  readonly longestMs: number;
  /** Mean wait of an event that arrives at a random moment: sum of b^2 / 2T. */
  readonly lagMeanMs: number;
  /** Longest wait that any event could have met; the same as `longestMs`. */
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
  /** Time that the page was hidden, and the run did not count. */
  readonly hiddenMs: number;
}
