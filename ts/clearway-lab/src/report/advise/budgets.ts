// SPDX-License-Identifier: MIT OR Apache-2.0
// The budget table: the payload that each mechanism handles within a frame, from the cells of one run.
import type { HostName } from "../../protocol/message.js";
import { byRound } from "../../run/floor.js";
import type { RecordedCell, RunRecord } from "../../run/record.js";
import type { Metric, Results } from "../../run/results.js";
import type { Role } from "../../scenario/scenario.js";
import { type Budget, budgetOf } from "../../statistics/budget.js";
import { geometricMean, pairedRatios } from "../../statistics/compare.js";
import { type Crossover, crossoverOf } from "../../statistics/crossover.js";
import { significant } from "../../statistics/distribution.js";
import { metricsFor } from "../table.js";
import { TOPICS, type Topic } from "./topics.js";

/** The frames of the budget, in milliseconds: at 60 Hz and at 120 Hz. */
export const FRAMES_MS = [1000 / 60, 1000 / 120] as const;

export interface BudgetPoint {
  size: number;
  ms: number;
  /** `p99` if there are enough samples, else `p50`; `median` is the median of the rounds of one value each. */
  figure: "p99" | "p50" | "median";
  cells: string[];
}

export interface BudgetLine {
  mechanism: string;
  role: Role;
  points: BudgetPoint[];
  /** One budget for each of `FRAMES_MS`. */
  budgets: Budget[];
  /** From which size on the mechanism is faster than the scenario's reference. Undefined for the reference, or with fewer than two sizes. */
  crossover?: { reference: string; at: Crossover };
}

export interface BudgetTable {
  topic: string;
  title: string;
  meaning: Topic["meaning"];
  scenario: string;
  host: HostName;
  /** What distinguishes the tables of one topic and host. */
  load: string;
  /** The fastest for the largest payload first. */
  lines: BudgetLine[];
}

/** `ratio` is how many times as long another device takes: a frame there is so much shorter in the time of the run's machine. */
export function budgetTables(results: Results, record: RunRecord, ratio = 1): BudgetTable[] {
  return TOPICS.flatMap((topic) =>
    topic.scenarios.flatMap((scenario) => {
      const cells = record.cells.filter((cell) => isOf(topic, cell, scenario));
      const groups = new Map<string, RecordedCell[]>();
      for (const cell of cells) {
        const key = JSON.stringify([cell.host, topic.group(cell.params)]);
        groups.set(key, [...(groups.get(key) ?? []), cell]);
      }
      return [...groups].flatMap(([key, own]) => {
        const [host, load] = JSON.parse(key) as [HostName, string];
        const lines = linesOf(results, record, topic, own, ratio);
        const { name, title, meaning } = topic;
        return lines.length === 0 ? [] : [{ topic: name, title, meaning, scenario, host, load, lines }];
      });
    }),
  );
}

function isOf(topic: Topic, { scenario, control, rounds, params }: RecordedCell, wanted: string): boolean {
  return scenario === wanted && !control && rounds.length > 0 && topic.size(params) !== undefined;
}

function linesOf(
  results: Results,
  record: RunRecord,
  topic: Topic,
  cells: readonly RecordedCell[],
  ratio: number,
): BudgetLine[] {
  const reference = record.scenarios.find(({ name }) => name === cells[0]?.scenario)?.reference;
  const lines = [...new Set(cells.map(({ mechanism }) => mechanism))].flatMap((mechanism): BudgetLine[] => {
    const own = cells.filter((cell) => cell.mechanism === mechanism);
    const points = pointsOf(results, record, topic, own);
    const role = own[0]?.role;
    if (points.length === 0 || role === undefined) return [];
    const budgets = FRAMES_MS.flatMap((ms) => budgetOf(points, ms / ratio) ?? []);
    const others = cells.filter((cell) => cell.mechanism === reference);
    const at = mechanism === reference ? undefined : crossover(record, topic, own, others);
    return [{ mechanism, role, points, budgets, ...(at && reference && { crossover: { reference, at } }) }];
  });
  const largest = (line: BudgetLine) => line.points.at(-1) as BudgetPoint;
  return lines.sort((a, b) => largest(b).size - largest(a).size || largest(a).ms - largest(b).ms);
}

/** Returns one point for each size. If a run pinned its threads in two ways, the slower one counts. */
function pointsOf(results: Results, record: RunRecord, topic: Topic, cells: readonly RecordedCell[]): BudgetPoint[] {
  const points = new Map<number, BudgetPoint>();
  for (const cell of cells) {
    const size = topic.size(cell.params);
    const figure = figureOf(metricsFor(results, record, cell)[topic.metric]);
    if (size === undefined || figure === undefined) continue;
    const known = points.get(size);
    const names = [...new Set([...(known?.cells ?? []), `${cell.scenario}/${cell.mechanism}`])];
    const slower = known === undefined || figure.ms > known.ms ? figure : known;
    points.set(size, { size, ms: slower.ms, figure: slower.figure, cells: names });
  }
  return [...points.values()].sort((a, b) => a.size - b.size);
}

const MS_PER: Record<string, number> = { us: 1e-3, ms: 1 };

function figureOf(metric: Metric | undefined): Pick<BudgetPoint, "ms" | "figure"> | undefined {
  const scale = MS_PER[metric?.unit ?? ""];
  if (metric === undefined || scale === undefined) return undefined;
  if ("value" in metric) return { ms: significant(metric.value * scale), figure: "median" };
  if (metric.n === 0) return undefined;
  const figure = metric.unsupported?.includes("p99") ? "p50" : "p99";
  return { ms: significant(metric[figure] * scale), figure };
}

/** Compares a mechanism with the reference at each size that both have, round by round, with threads on the same cores. */
function crossover(
  record: RunRecord,
  topic: Topic,
  own: readonly RecordedCell[],
  others: readonly RecordedCell[],
): Crossover | undefined {
  const ratios = new Map<number, number[]>();
  for (const cell of own) {
    const size = topic.size(cell.params);
    const other = others.find(({ params }) => topic.size(params) === size && params["cores"] === cell.params["cores"]);
    if (size === undefined || other === undefined) continue;
    const paired = [`${topic.metric}.p50`, topic.metric].flatMap((metric) =>
      pairedRatios(byRound(record, cell, metric), byRound(record, other, metric)),
    );
    ratios.set(size, [...(ratios.get(size) ?? []), ...paired]);
  }
  const points = [...ratios].flatMap(([size, all]) => (all.length === 0 ? [] : [{ size, ratio: geometricMean(all) }]));
  return points.length < 2 ? undefined : crossoverOf(points);
}
