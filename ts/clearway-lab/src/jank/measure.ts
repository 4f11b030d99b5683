// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures a subject, and its baseline if there is one, in interleaved runs.
import type { DeviceTime } from "../ratio/device-time.js";
import { geometricMean, median } from "../statistics/rounds.js";
import {
  BUDGET_FIGURES,
  type BudgetName,
  type BudgetResult,
  type Figures,
  type Frames,
  figuresThere,
  judge,
  type Limit,
} from "./figures.js";
import { groupCauses } from "./locate.js";
import { type ComparedFigure, countedRuns, type JankReport, type Run, type Subject } from "./record.js";
import type { Target } from "./target.js";

export interface Plan {
  readonly targets: readonly Target[];
  readonly repeat: number;
  readonly steps: readonly string[];
  readonly budget: readonly Limit[];
  readonly signal: AbortSignal;
  /** Converts the stalls to another device's time. */
  readonly device?: DeviceTime | undefined;
  readonly deviceNotes?: readonly string[];
}

export type MeasureOnce = (target: Target) => Promise<{ run: Run; runtime: string }>;

/** Measures each target `repeat` times. Calls `progress` before each run. Stops after a run that was interrupted. */
export async function measureAll(
  plan: Plan,
  measureOnce: MeasureOnce,
  progress: (name: string, run: number, runs: number) => void,
): Promise<JankReport> {
  const startedAt = new Date().toISOString();
  const runs = new Map<Target, Run[]>(plan.targets.map((target) => [target, []]));
  const total = plan.repeat * plan.targets.length;
  let runtime = "";
  let done = 0;
  for (let round = 0; round < plan.repeat && !plan.signal.aborted; round++) {
    // The order changes each round, so that a machine that becomes slower or faster favours neither.
    const order = round % 2 === 0 ? plan.targets : [...plan.targets].reverse();
    for (const target of order) {
      if (plan.signal.aborted) break;
      progress(target.name, ++done, total);
      const measured = await measureOnce(target);
      runtime = measured.runtime;
      runs.get(target)!.push(measured.run);
    }
  }
  const subjects = plan.targets.map((target, index) => subjectOf(target, index, runs.get(target)!, plan.device));
  return {
    kind: "clearway-jank",
    version: 1,
    startedAt,
    runtime,
    steps: plan.steps,
    repeat: plan.repeat,
    subjects,
    comparison: subjects.length < 2 ? [] : compareRuns(subjects[0]!.runs, subjects[1]!.runs),
    budget: subjects[0]!.runs.length === 0 ? [] : budgetResults(plan, subjects[0]!),
    ...(plan.device && { device: plan.device, deviceNotes: plan.deviceNotes ?? [] }),
  };
}

function subjectOf(target: Target, index: number, runs: readonly Run[], device: DeviceTime | undefined): Subject {
  return {
    name: target.name,
    role: index === 0 ? "subject" : "baseline",
    kind: target.kind === "script" ? "script" : "page",
    runs,
    figures: medianFigures(countedRuns(runs).map(({ figures }) => figures)),
    ...(device && { there: { ratio: device.ratio, figures: mediansThere(runs, device.ratio) } }),
    causes: groupCauses(runs.flatMap(({ stalls }) => stalls)),
  };
}

function mediansThere(runs: readonly Run[], ratio: number): Figures {
  return medianFigures(countedRuns(runs).map(({ stalls, figures }) => figuresThere(stalls, figures.durationMs, ratio)));
}

/** Compares the figures with the limits: those of the device if there is one. */
function budgetResults({ budget, device }: Plan, { figures, there, runs }: Subject): BudgetResult[] {
  if (device === undefined || there === undefined) return judge(budget, budgetValues(figures));
  const here = budgetValues(figures);
  const [least, most] = [device.ratioMin, device.ratioMax].map((ratio) =>
    judge(budget, budgetValues(mediansThere(runs, ratio ?? device.ratio))),
  ) as [BudgetResult[], BudgetResult[]];
  return judge(budget, budgetValues(there.figures)).map((result, at) => ({
    ...result,
    here: here[result.name],
    ...(least[at]!.kept === most[at]!.kept ? {} : { uncertain: true as const }),
  }));
}

function budgetValues(figures: Figures): Record<BudgetName, number> {
  const entries = Object.entries(BUDGET_FIGURES).map(([name, { of }]) => [name, of(figures)] as const);
  return Object.fromEntries(entries) as Record<BudgetName, number>;
}

/** Returns the median of each figure. */
function medianFigures(all: readonly Figures[]): Figures {
  const of = (figure: (figures: Figures) => number): number => (all.length === 0 ? 0 : median(all.map(figure)));
  const frames = (which: (figures: Figures) => Frames): Frames => ({
    dropped: of((figures) => which(figures).dropped),
    counted: all.length > 0 && all.every((figures) => which(figures).counted),
  });
  return {
    durationMs: of(({ durationMs }) => durationMs),
    stalls: of(({ stalls }) => stalls),
    longestMs: of(({ longestMs }) => longestMs),
    machineMs: of(({ machineMs }) => machineMs),
    stalledMs: of(({ stalledMs }) => stalledMs),
    lagMeanMs: of(({ lagMeanMs }) => lagMeanMs),
    hitch60: of(({ hitch60 }) => hitch60),
    hitch120: of(({ hitch120 }) => hitch120),
    frames60: frames(({ frames60 }) => frames60),
    frames120: frames(({ frames120 }) => frames120),
  };
}

const COMPARED: readonly BudgetName[] = ["stall", "stalled", "lag", "hitch", "dropped", "dropped120"];

/** Compares the runs of the subject with those of the baseline, pair by pair. Only pairs in which both runs completed count. */
export function compareRuns(subject: readonly Run[], baseline: readonly Run[]): ComparedFigure[] {
  const pairs = subject.flatMap((after, index) => {
    const before = baseline[index];
    return before !== undefined && after.outcome === "completed" && before.outcome === "completed"
      ? [{ after, before }]
      : [];
  });
  if (pairs.length === 0) return [];
  return COMPARED.map((name) => {
    const { title, unit, of } = BUDGET_FIGURES[name];
    const values = pairs.map(({ after, before }) => ({ after: of(after.figures), before: of(before.figures) }));
    const ratios = values.every(({ after, before }) => after > 0 && before > 0)
      ? values.map(({ after, before }) => after / before)
      : undefined;
    return {
      name: title,
      unit,
      before: median(values.map(({ before }) => before)),
      after: median(values.map(({ after }) => after)),
      ratio: ratios === undefined ? null : geometricMean(ratios),
      ratioMin: ratios === undefined ? null : Math.min(...ratios),
      ratioMax: ratios === undefined ? null : Math.max(...ratios),
      pairs: pairs.length,
    };
  });
}

/** Returns the exit status: 130 if interrupted, 1 if a run did not complete or a limit was exceeded, else 0. */
export function exitStatus({ subjects, budget }: Pick<JankReport, "subjects" | "budget">): number {
  const outcomes = subjects.flatMap(({ runs }) => runs.map(({ outcome }) => outcome));
  if (outcomes.includes("interrupted")) return 130;
  return outcomes.some((outcome) => outcome !== "completed") || budget.some(({ kept }) => !kept) ? 1 : 0;
}
