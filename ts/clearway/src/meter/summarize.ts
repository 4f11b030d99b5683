// SPDX-License-Identifier: MIT OR Apache-2.0
import { type CountedFrames, expectedDroppedFrames } from "./model/frames.js";
import { hitchRatio, hitchVerdicts } from "./model/hitch.js";
import { tail } from "./model/tail.js";
import { lagMean, waitProbability } from "./model/wait.js";
import { worstSecond } from "./model/worst-second.js";
import type { CauseShare, SourceState, StallReport } from "./report.js";
import type { Stall, StallCause } from "./stall.js";

/** The facts of a run from which the report is computed. */
export interface RunFacts {
  readonly host: StallReport["host"];
  readonly label: string | undefined;
  readonly startedAt: string;
  readonly durationMs: number;
  /** The start of the covered time, in milliseconds since the start of the run. 0 unless stalls were dropped. */
  readonly coveredFromMs: number;
  readonly hiddenMs: number;
  readonly hz: number;
  readonly floorMs: number;
  readonly stalls: readonly Stall[];
  readonly droppedStalls: number;
  readonly frames: CountedFrames | undefined;
  readonly sources: readonly SourceState[];
}

/** Waits that people notice or plan for, in ms: a frame at 120 and at 60 Hz, then 50, 100 (perceived as instant), 250 and 1000. */
export const waitsOverMs: readonly number[] = [1000 / 120, 1000 / 60, 50, 100, 250, 1000];

const causes: readonly StallCause[] = ["app", "gc", "machine", "unknown"];

/** Computes a run's report. Has no side effects. */
export function summarize(run: RunFacts): StallReport {
  const { stalls, durationMs, hz } = run;
  const lengths = stalls.map((stall) => stall.lengthMs);
  const longestMs = longestOf(stalls);
  const ratio = hitchRatio(lengths, durationMs, hz);
  return {
    kind: "clearway-stalls",
    version: 1,
    host: run.host,
    ...(run.label === undefined ? {} : { label: run.label }),
    startedAt: run.startedAt,
    durationMs,
    floorMs: run.floorMs,
    stalls,
    droppedStalls: run.droppedStalls,
    longestMs,
    ownLongestMs: longestOf(stalls.filter(({ cause }) => cause !== "machine")),
    lagMeanMs: lagMean(lengths, durationMs),
    lagMaxMs: longestMs,
    stalledMs: lengths.reduce((sum, length) => sum + length, 0),
    stallsPerMinute: durationMs > 0 ? (stalls.length / durationMs) * 60_000 : 0,
    waits: waitsOverMs.map((overMs) => ({ overMs, share: waitProbability(lengths, durationMs, overMs) })),
    hitch: { hz, msPerSecond: ratio, verdicts: hitchVerdicts(ratio) },
    frames: run.frames
      ? { ...run.frames, estimated: false }
      : {
          hz,
          expected: Math.round((durationMs * hz) / 1000),
          dropped: expectedDroppedFrames(lengths, hz),
          estimated: true,
        },
    worstSecond: worstSecond(stalls, run.coveredFromMs + durationMs + run.hiddenMs, run.coveredFromMs),
    tail: tail(lengths),
    causes: causes.flatMap((cause) => share(cause, stalls)),
    sources: run.sources,
    hiddenMs: run.hiddenMs,
  };
}

function share(cause: StallCause, stalls: readonly Stall[]): CauseShare[] {
  const those = stalls.filter((stall) => stall.cause === cause);
  if (those.length === 0) return [];
  const totalMs = those.reduce((sum, stall) => sum + stall.lengthMs, 0);
  return [{ cause, stalls: those.length, totalMs, longestMs: longestOf(those) }];
}

const longestOf = (stalls: readonly Stall[]): number =>
  stalls.reduce((most, { lengthMs }) => Math.max(most, lengthMs), 0);
