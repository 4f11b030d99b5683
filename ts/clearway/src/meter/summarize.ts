// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CauseShare, HitchVerdicts, SourceState, Stall, StallCause, StallReport, TailQuantile } from "./report.js";

/**
 * Returns the expected number of frames that stalls drop at `hz`.
 *
 * A frame takes P = 1000 / hz milliseconds. On average over all phases, a stall of length b covers b / P frames. The last of these frames
 * still appears, but late, so b / P - 1 frames are dropped.
 */
export function expectedDroppedFrames(lengthsMs: readonly number[], hz: number): number {
  const frameMs = 1000 / hz;
  let dropped = 0;
  for (const length of lengthsMs) dropped += Math.max(0, length / frameMs - 1);
  return Math.round(dropped);
}

export interface CountedFrames {
  readonly hz: number;
  readonly expected: number;
  readonly dropped: number;
}

/**
 * Counts the dropped frames, from the gaps between the shown frames.
 *
 * The median gap gives the display's rate, if most frames appear in time. If most frames are late, the list of stalls shows the
 * problem.
 *
 * Returns `undefined` for fewer than 4 gaps, which are too few to find the display's rate.
 */
export function countDroppedFrames(gapsMs: readonly number[], minHz = 24): CountedFrames | undefined {
  if (gapsMs.length < 4) return undefined;
  const sorted = [...gapsMs].sort((a, b) => a - b);
  const frameMs = Math.min(sorted[sorted.length >> 1]!, 1000 / minHz);
  if (frameMs <= 0) return undefined;
  let dropped = 0;
  for (const gap of gapsMs) dropped += Math.max(0, Math.round(gap / frameMs) - 1);
  return { hz: Math.round(1000 / frameMs), expected: gapsMs.length + dropped, dropped };
}

/**
 * Returns the hitch ratio: the time by which stalls exceed the frame time at `hz`, in milliseconds per second of the run. For stalls of
 * length b, a rate F and a run of length T, this is the sum of max(0, b - 1000/F) / T.
 */
export function hitchRatio(lengthsMs: readonly number[], durationMs: number, hz: number): number {
  if (durationMs <= 0) return 0;
  const frameMs = 1000 / hz;
  let hitchMs = 0;
  for (const length of lengthsMs) hitchMs += Math.max(0, length - frameMs);
  return (hitchMs / durationMs) * 1000;
}

/**
 * Returns the two published ratings of a hitch ratio. The strict limits are the 5 and 10 ms/s of Apple's Xcode Organizer and WWDC 2020
 * session 10077. The lenient limits are the newer 10, 25 and 50 ms/s.
 */
export function hitchVerdicts(msPerSecond: number): HitchVerdicts {
  return {
    strict: msPerSecond <= 5 ? "good" : msPerSecond <= 10 ? "warning" : "critical",
    lenient: msPerSecond <= 10 ? "good" : msPerSecond <= 25 ? "fair" : msPerSecond <= 50 ? "poor" : "critical",
  };
}

/** The minimum number of expected samples beyond a quantile. With fewer, the quantile depends more on chance than on the app. */
const samplesBeyondMin = 20;

/** Returns the nearest-rank quantile of an ascending list. Returns `null` if the list is too short for that quantile. */
export function quantile(sorted: readonly number[], q: number): number | null {
  // The allowance compensates for the rounding of 1 - q: 200 * (1 - 0.9) is 19.999999999999996.
  if (sorted.length * (1 - q) + 1e-9 < samplesBeyondMin) return null;
  return sorted[Math.max(0, Math.ceil(sorted.length * q - 1e-9) - 1)]!;
}

export function tail(lengthsMs: readonly number[], quantiles = [0.5, 0.9, 0.99, 0.999]): TailQuantile[] {
  const sorted = [...lengthsMs].sort((a, b) => a - b);
  return quantiles.map((q) => ({ quantile: q, lengthMs: quantile(sorted, q) }));
}

/**
 * Returns the probability, 0 to 1, that an event waits longer than `overMs`.
 *
 * The event arrives at a random moment of the run. The result is exact, not sampled. An event waits longer than x if it arrives in a
 * stall, more than x before the stall's end. For stalls of length b, these moments last for the sum of max(0, b - x).
 *
 * The meter does not record stalls under its `floorMs`. For an `overMs` under `floorMs`, the result is therefore a lower bound.
 */
export function waitProbability(lengthsMs: readonly number[], durationMs: number, overMs: number): number {
  if (durationMs <= 0) return 0;
  let beyondMs = 0;
  for (const length of lengthsMs) beyondMs += Math.max(0, length - overMs);
  return Math.min(1, beyondMs / durationMs);
}

/**
 * Returns the mean wait of an event that arrives at a random moment: the sum of b^2 / 2T. The event arrives in a stall of length b with
 * probability b / T, and then waits b / 2 on average. T is the length of the run.
 *
 * Stalls under the meter's `floorMs` are not recorded. These stalls add at most half of `floorMs` to the true mean.
 */
export function lagMean(lengthsMs: readonly number[], durationMs: number): number {
  if (durationMs <= 0) return 0;
  let squares = 0;
  for (const length of lengthsMs) squares += length * length;
  return squares / (2 * durationMs);
}

const windowMs = 1000;

interface Span {
  readonly startMs: number;
  readonly lengthMs: number;
}

/**
 * Returns the second of the run with the most stalled time. Takes O(n log n).
 *
 * The result is exact over all positions of the second, not only over whole seconds. Imagine that a window of one second slides over the
 * run. The slope of its stalled time changes only when an edge of the window meets an edge of a stall. The maximum therefore occurs when
 * the window starts at a stall's start or ends at a stall's end.
 *
 * `stalls` must be in order and must not overlap. The run is the time from `fromMs` to `untilMs`.
 */
export function worstSecond(
  stalls: readonly Span[],
  untilMs: number,
  fromMs = 0,
): { startMs: number; stalledMs: number } {
  const ends = stalls.map((stall) => stall.startMs + stall.lengthMs);
  const stalledBefore = [0];
  for (const stall of stalls) stalledBefore.push(stalledBefore.at(-1)! + stall.lengthMs);
  const stalledUntil = (atMs: number): number => {
    let low = 0;
    let high = stalls.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! <= atMs) low = middle + 1;
      else high = middle;
    }
    const partial = stalls[low];
    return stalledBefore[low]! + (partial ? Math.max(0, atMs - partial.startMs) : 0);
  };
  let worst = { startMs: fromMs, stalledMs: 0 };
  const lastStartMs = Math.max(fromMs, untilMs - windowMs);
  for (const [index, stall] of stalls.entries()) {
    for (const candidate of [stall.startMs, ends[index]! - windowMs]) {
      const startMs = Math.min(Math.max(fromMs, candidate), lastStartMs);
      const stalledMs = stalledUntil(startMs + windowMs) - stalledUntil(startMs);
      if (stalledMs > worst.stalledMs) worst = { startMs, stalledMs };
    }
  }
  return worst;
}

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
const waitsOverMs: readonly number[] = [1000 / 120, 1000 / 60, 50, 100, 250, 1000];

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
    ownLongestMs: stalls.reduce((most, stall) => Math.max(most, ownMs(stall)), 0),
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

/** The part of a stall for which the app is responsible. */
const ownMs = ({ cause, lengthMs, machineMs }: Stall): number =>
  cause === "machine" ? lengthMs - machineMs : lengthMs;

const longestOf = (stalls: readonly Stall[]): number =>
  stalls.reduce((most, { lengthMs }) => Math.max(most, lengthMs), 0);
