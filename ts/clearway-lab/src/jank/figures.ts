// SPDX-License-Identifier: MIT OR Apache-2.0
// The figures of a run, computed from the meter's reports, and the limits for them. docs/meter.md has the definitions, and
// spec/vectors/meter.json tests them.
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

// Limits that a run must keep: `--budget 50` or `--budget stall=50,dropped=0`.

/** The figures that a budget can limit. */
export const BUDGET_FIGURES = {
  // Also a stall that the machine lengthened: on a busy machine, most of it may be the app's.
  stall: {
    title: "longest stall",
    unit: "ms",
    of: ({ longestMs, machineMs }: Figures) => Math.max(longestMs, machineMs),
  },
  stalled: { title: "stalled in total", unit: "ms", of: (figures: Figures) => figures.stalledMs },
  lag: { title: "mean lag", unit: "ms", of: (figures: Figures) => figures.lagMeanMs },
  hitch: { title: "hitch ratio at 60 Hz", unit: "ms/s", of: (figures: Figures) => figures.hitch60 },
  hitch120: { title: "hitch ratio at 120 Hz", unit: "ms/s", of: (figures: Figures) => figures.hitch120 },
  dropped: { title: "dropped frames at 60 Hz", unit: "", of: (figures: Figures) => figures.frames60.dropped },
  dropped120: { title: "dropped frames at 120 Hz", unit: "", of: (figures: Figures) => figures.frames120.dropped },
} as const;

export type BudgetName = keyof typeof BUDGET_FIGURES;

export interface Limit {
  readonly name: BudgetName;
  /** The largest accepted value, in the figure's unit. */
  readonly max: number;
}

export interface BudgetResult extends Limit {
  /** In the time of the other device if the run was converted to it. */
  readonly value: number;
  readonly kept: boolean;
  /** The value on this machine, if `value` is that of another device. */
  readonly here?: number;
  /** Whether the limit lies within the interval of the device's ratio, so that the result could be the other one. */
  readonly uncertain?: true;
}

/** Parses a budget. Throws a `RangeError` that names the wrong part. */
export function parseBudget(text: string): Limit[] {
  const limits = text.split(",").map((part) => {
    const at = part.indexOf("=");
    const name = at < 0 ? "stall" : part.slice(0, at).trim();
    const value = part.slice(at + 1).trim();
    const max = Number(value);
    if (!Object.hasOwn(BUDGET_FIGURES, name))
      throw new RangeError(`unknown figure "${name}". Figures: ${Object.keys(BUDGET_FIGURES).join(", ")}`);
    if (value === "" || !Number.isFinite(max) || max < 0)
      throw new RangeError(`${name} needs a number of 0 or more: ${name}=${value === "" ? '""' : value}`);
    return { name: name as BudgetName, max };
  });
  const twice = limits.find(({ name }, i) => limits.findIndex((other) => other.name === name) !== i);
  if (twice !== undefined) throw new RangeError(`${twice.name} has two limits; give one`);
  return limits;
}

/** Compares figures with each limit. A value equal to its limit keeps it. */
export function judge(limits: readonly Limit[], values: Readonly<Record<BudgetName, number>>): BudgetResult[] {
  return limits.map((limit) => ({ ...limit, value: values[limit.name], kept: values[limit.name] <= limit.max }));
}
