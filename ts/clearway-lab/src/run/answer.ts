// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers the questions from a record. Each answer is a sentence with a ratio, its interval and a verdict.
import { CONTROL_PARAM, CORES_PARAM } from "../scenario/plan.js";
import { type Compared, includes, type Question } from "../scenario/question.js";
import { median, pairedRatios } from "../statistics/compare.js";
import { type Decision, decide, pairedFloor, ROUNDS_MIN, type Verdict } from "../statistics/decide.js";
import { byRound } from "./floor.js";
import { type RecordedCell, type RunRecord, wasWarmUpCut } from "./record.js";

/** The part of a record that the answers use. It grows while a run measures. `machine` is known at the end. */
export type Measured = Pick<RunRecord, "cells" | "hosts"> & Partial<Pick<RunRecord, "machine">>;

export interface ComparedAnswer {
  compared: Compared;
  /** The decision. Undefined if no round has both mechanisms. */
  decision?: Decision;
  /** `subject` and `reference` are the medians of the mechanisms over the rounds, in the metric's unit. */
  subject?: number;
  reference?: number;
  unit?: string;
  /** Why the comparison is undecided, if more rounds would not help. */
  why?: string;
}

export interface Answer {
  question: Question;
  /** "decided" if at least one part is decided and every other part is decided or shows no difference. */
  verdict: Verdict;
  parts: ComparedAnswer[];
}

/** Returns the answers to all questions for which the record has a cell. */
export function answersOf(record: Measured, questions: readonly Question[]): Answer[] {
  return questions.flatMap((question) => {
    const parts = question.comparisons.map((compared) => answerOf(record, compared));
    const asked = question.comparisons.some((compared) => find(record, compared, compared.subject) !== undefined);
    return asked ? [{ question, verdict: verdictOf(parts), parts }] : [];
  });
}

/** Returns the verdict of one comparison. A comparison with a reason why it is open is undecided. */
export function verdictOfPart({ decision, why }: ComparedAnswer): Verdict {
  return why === undefined && decision !== undefined ? decision.verdict : "undecided";
}

function verdictOf(parts: readonly ComparedAnswer[]): Verdict {
  const verdicts = parts.map(verdictOfPart);
  if (verdicts.includes("undecided")) return "undecided";
  return verdicts.includes("decided") ? "decided" : "no difference";
}

/** Why a comparison has no decision yet. More rounds may bring one. */
const NO_ROUND = "no round has both";

function answerOf(record: Measured, compared: Compared): ComparedAnswer {
  const [subject, reference] = [compared.subject, compared.reference].map((name) => find(record, compared, name));
  if (subject === undefined || reference === undefined) return { compared, why: "it was not planned" };
  for (const cell of [subject, reference]) {
    const why = cell.failure ?? cell.unavailable;
    if (why !== undefined) return { compared, why: `${cell.mechanism}: ${why}` };
  }
  const [own, other] = [byRound(record, subject, compared.metric), byRound(record, reference, compared.metric)];
  const decision = decide(pairedRatios(own, other), floorOf(record, compared));
  if (decision === undefined) return { compared, why: NO_ROUND };
  const answer: ComparedAnswer = { compared, decision };
  answer.unit = unitOf(subject, compared.metric);
  answer.subject = middleOf(own, compared.metric, answer.unit);
  answer.reference = middleOf(other, compared.metric, answer.unit);
  const cut = [subject, reference].find(wasWarmUpCut);
  if (cut !== undefined) answer.why = `${cut.mechanism} still became faster when its warm-up ended`;
  return answer;
}

function find(record: Measured, compared: Compared, mechanism: string, control = false) {
  return record.cells.find(
    (cell) => cell.control === control && cell.mechanism === mechanism && hasLoadOf(cell, compared),
  );
}

/** Returns whether a comparison or its noise rests on a cell. The second cell of a reference may give the noise of other loads. */
function decides(cell: RecordedCell, compared: Compared): boolean {
  if (!hasLoadOf(cell, compared)) return false;
  return cell.control || cell.mechanism === compared.subject || cell.mechanism === compared.reference;
}

/** Returns whether a cell has the scenario, host, parameters and cores of a comparison. */
export function hasLoadOf(cell: RecordedCell, { scenario, host, params, cores }: Compared): boolean {
  return (
    cell.scenario === scenario &&
    cell.host === host &&
    cell.params[CORES_PARAM] === cores &&
    includes(cell.params, params)
  );
}

/**
 * Returns the noise floor of a comparison: the factor between two runs of the same thing in the compared metric. Uses the reference
 * under the same load, or else the largest factor of the scenario on this host and these cores, or else on any cores. Returns
 * undefined if there is none.
 */
function floorOf(record: Measured, compared: Compared): number | undefined {
  const { metric } = compared;
  const floors = repeatsFor(record, compared).map((repeat) => {
    const { [CONTROL_PARAM]: _, ...params } = repeat.params;
    const { cores: _any, ...load } = compared;
    const cores = params[CORES_PARAM] as Compared["cores"];
    const first = find(record, { ...load, params, ...(cores && { cores }) }, repeat.mechanism);
    if (first === undefined) return undefined;
    const own = byRound(record, first, metric);
    const ratios = pairedRatios(own, byRound(record, repeat, metric));
    return ratios.length === 0 ? undefined : pairedFloor(ratios);
  });
  const known = floors.filter((floor) => floor !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Returns the A/A cells that tell the noise of a comparison best. */
function repeatsFor(record: Measured, compared: Compared): RecordedCell[] {
  const own = find(record, compared, compared.reference, true);
  if (own !== undefined) return [own];
  const { scenario, host, cores } = compared;
  const near = record.cells.filter((cell) => cell.control && cell.scenario === scenario && cell.host === host);
  const sameCores = near.filter((cell) => cell.params[CORES_PARAM] === cores);
  return sameCores.length > 0 ? sameCores : near;
}

function unitOf(cell: RecordedCell, metric: string): string {
  const [name = "", quantile] = metric.split(".");
  const measurement = cell.rounds[0]?.measurement;
  return (quantile === undefined ? measurement?.values[name]?.unit : measurement?.samples[name]?.unit) ?? "";
}

const NS_PER: Record<string, number> = { us: 1e3, ms: 1e6 };

/** Returns the median of the rounds in the metric's unit. Samples are in nanoseconds; values already have their unit. */
function middleOf(series: ReadonlyMap<number, number>, metric: string, unit: string): number {
  const scale = metric.includes(".") ? NS_PER[unit] : undefined;
  return median([...series.values()]) / (scale ?? 1);
}

/**
 * Returns whether more rounds of the cell would change no answer: every comparison of this cell has a verdict. A mechanism that is
 * only in the tables changes none.
 */
export function isSettled(record: Measured, questions: readonly Question[], cell: RecordedCell): boolean {
  const concerned = questions.flatMap(({ comparisons }) => comparisons).filter((compared) => decides(cell, compared));
  return concerned.every((compared) => {
    const { decision, why } = answerOf(record, compared);
    if (decision === undefined) return why !== NO_ROUND;
    return decision.rounds >= ROUNDS_MIN && decision.verdict !== "undecided";
  });
}
