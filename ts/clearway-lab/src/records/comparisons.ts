// SPDX-License-Identifier: MIT OR Apache-2.0
// The comparisons of a run: those of its questions, then each other cell of Clearway against the scenario's reference.
import type { Params } from "../protocol/message.js";
import { hasLoadOf } from "../run/answer.js";
import type { RecordedCell, RunRecord } from "../run/record.js";
import { CORES_PARAM } from "../scenario/plan.js";
import type { Compared } from "../scenario/question.js";

export interface Comparison {
  /** The same in two runs for the same measurement. */
  key: string;
  question: string;
  label: string;
  compared: Compared;
  /** All parameters of the compared cells, with the cores. */
  params: Params;
  better: "lower" | "higher";
}

/** Units of which more is better. A ratio of such figures is better if it is higher. */
const MORE_IS_BETTER = ["events/s", "MB/s"];

/** Returns the comparisons whose subject has a round. Each occurs once. */
export function comparisonsOf(record: RunRecord): Comparison[] {
  const found = new Map<string, Comparison>();
  for (const comparison of [...asked(record), ...ofCells(record)]) {
    if (!found.has(comparison.key)) found.set(comparison.key, comparison);
  }
  return [...found.values()];
}

function asked(record: RunRecord): Comparison[] {
  return (record.questions ?? []).flatMap(({ question, comparisons }) =>
    comparisons.flatMap((compared) => {
      const cell = record.cells.find(
        (each) => !each.control && each.mechanism === compared.subject && hasLoadOf(each, compared),
      );
      return cell === undefined ? [] : comparisonOf(cell, compared, question, compared.label);
    }),
  );
}

function ofCells(record: RunRecord): Comparison[] {
  return record.cells.flatMap((cell) => {
    const scenario = record.scenarios.find(({ name }) => name === cell.scenario);
    if (scenario === undefined || cell.control || cell.role !== "clearway") return [];
    const { reference, compare, question = scenario.name } = scenario;
    if (reference === undefined || reference === cell.mechanism) return [];
    const cores = cell.params[CORES_PARAM] as Compared["cores"];
    const compared: Compared = {
      ...{ host: cell.host, scenario: cell.scenario, params: cell.params, metric: compare },
      ...{ subject: cell.mechanism, reference, others: [] },
      ...(cores === undefined ? {} : { cores }),
    };
    return comparisonOf(cell, compared, question, undefined);
  });
}

function comparisonOf(
  cell: RecordedCell,
  compared: Compared,
  question: string,
  label: string | undefined,
): Comparison[] {
  const unit = unitOf(cell, compared.metric);
  if (unit === undefined) return [];
  const { host, scenario, metric, subject, reference } = compared;
  const params = Object.entries(cell.params).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    {
      key: JSON.stringify([scenario, host, metric, subject, reference, params]),
      question,
      label: label ?? `${subject} / ${reference}`,
      compared,
      params: cell.params,
      better: MORE_IS_BETTER.includes(unit) ? "higher" : "lower",
    },
  ];
}

/** Returns the unit of a figure: of a value, or of samples for SAMPLE.QUANTILE. Undefined if the cell has no such figure. */
function unitOf({ rounds }: RecordedCell, metric: string): string | undefined {
  const [name = "", quantile] = metric.split(".");
  for (const { measurement } of rounds) {
    const unit = (quantile === undefined ? measurement.values[name] : measurement.samples[name])?.unit;
    if (unit !== undefined) return unit;
  }
  return undefined;
}
