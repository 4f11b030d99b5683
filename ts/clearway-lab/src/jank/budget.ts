// SPDX-License-Identifier: MIT OR Apache-2.0
// Limits that a run must keep: `--budget 50` or `--budget stall=50,dropped=0`.
import type { Figures } from "./figures.js";

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
