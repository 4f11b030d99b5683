// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run, computed from the meter's reports. docs/meter.md has the definitions, and spec/vectors/meter.json tests them.
import type { StallReport } from "clearway/meter";
import { stallsThere } from "../ratio/device-time.js";
import { droppedFrames, hitchMsPerSecond } from "../statistics/stalls.js";

export interface Frames {
  readonly dropped: number;
  /** Whether the display's frames were counted. Otherwise the number is computed from the stalls. */
  readonly counted: boolean;
}

export interface Figures {
  /** The observed time of the thread. */
  readonly durationMs: number;
  /** The number of stalls of the meter's floor or longer. */
  readonly stalls: number;
  /** The longest stall that the machine did not cause. */
  readonly longestMs: number;
  /** The longest stall that the machine caused. */
  readonly machineMs: number;
  readonly stalledMs: number;
  readonly lagMeanMs: number;
  /** Milliseconds by which frames are late, per second. */
  readonly hitch60: number;
  readonly hitch120: number;
  readonly frames60: Frames;
  readonly frames120: Frames;
}

/** Counted frames are those of a 60 Hz display if the measured rate is within this distance. Timers of a display are not exact. */
const HZ_TOLERANCE = 3;

/** Computes the figures of a run. A page that navigated has one report for each document, and the figures are those of the whole time. */
export function figuresOf(reports: readonly Pick<StallReport, "durationMs" | "stalls" | "frames">[]): Figures {
  const stalls = reports.flatMap((report) => report.stalls);
  const lengths = stalls.map(({ lengthMs }) => lengthMs);
  const durationMs = reports.reduce((sum, report) => sum + report.durationMs, 0);
  return {
    ...figuresFrom(lengths, durationMs),
    ...longestOf(
      stalls.map(({ lengthMs, cause, machineMs }) => ({
        lengthMs,
        takenMs: cause === "machine" ? machineMs : undefined,
      })),
    ),
    frames60: frames(reports, lengths, 60),
    frames120: frames(reports, lengths, 120),
  };
}

/**
 * Computes the figures of a run in the time of another device, which takes `ratio` times as long. Frames are computed, because the display
 * of that device was not there.
 */
export function figuresThere(
  stalls: readonly { lengthMs: number; cause: { kind: string; ms: number } }[],
  durationMs: number,
  ratio: number,
): Figures {
  const here = stalls.map(({ lengthMs }) => lengthMs);
  const there = stallsThere(here, durationMs, ratio);
  const byCause = stalls.map(({ lengthMs, cause }, at) => ({
    lengthMs: there.lengthsMs[at]!,
    takenMs: cause.kind === "machine" ? (cause.ms / lengthMs) * there.lengthsMs[at]! : undefined,
  }));
  return { ...figuresFrom(there.lengthsMs, there.durationMs), ...longestOf(byCause) };
}

/** `takenMs` is the time that the machine took of a stall that it caused. The rest of the stall is the app's. */
function longestOf(
  stalls: readonly { lengthMs: number; takenMs: number | undefined }[],
): Pick<Figures, "longestMs" | "machineMs"> {
  let longestMs = 0;
  let machineMs = 0;
  for (const { lengthMs, takenMs } of stalls) {
    longestMs = Math.max(longestMs, lengthMs - (takenMs ?? 0));
    if (takenMs !== undefined) machineMs = Math.max(machineMs, lengthMs);
  }
  return { longestMs, machineMs };
}

function figuresFrom(lengths: readonly number[], durationMs: number): Omit<Figures, "longestMs" | "machineMs"> {
  const squares = lengths.reduce((sum, ms) => sum + ms * ms, 0);
  return {
    durationMs,
    stalls: lengths.length,
    stalledMs: lengths.reduce((sum, ms) => sum + ms, 0),
    lagMeanMs: durationMs > 0 ? squares / (2 * durationMs) : 0,
    hitch60: hitchMsPerSecond(lengths, durationMs, 60),
    hitch120: hitchMsPerSecond(lengths, durationMs, 120),
    frames60: { dropped: droppedFrames(lengths, 60), counted: false },
    frames120: { dropped: droppedFrames(lengths, 120), counted: false },
  };
}

function frames(reports: readonly Pick<StallReport, "frames">[], lengths: readonly number[], hz: number): Frames {
  const counted =
    reports.length > 0 && reports.every(({ frames }) => !frames.estimated && Math.abs(frames.hz - hz) <= HZ_TOLERANCE);
  return counted
    ? { dropped: reports.reduce((sum, { frames }) => sum + frames.dropped, 0), counted }
    : { dropped: droppedFrames(lengths, hz), counted };
}
