// SPDX-License-Identifier: MIT OR Apache-2.0
// The published experiment "Which executor" as sentences and as a table, for terminals, the report and the docs.
import {
  type ExecutorFinding,
  executorFindings,
  type FindingPart,
  type FindingVerdict,
} from "../../published/executor-findings.js";
import {
  EXECUTOR_WORKS,
  type ExecutorFigures,
  executorCells,
  executorTable,
  type MeasuredRun,
  PUBLISHED_EXECUTORS,
} from "../../published/executors.js";
import { ROUNDS_MIN } from "../../statistics/decide.js";
import { shown } from "../number.js";
import type { Table, TableCell } from "../table.js";

const LEAD: Record<FindingVerdict, string> = {
  agrees: "Agrees",
  differs: "Differs",
  "not decided": "Not decided",
};

/** Returns whether a run has cells of the experiment. */
export function hasExecutors(record: MeasuredRun): boolean {
  return EXECUTOR_WORKS.some((work) => executorCells(record, work).length > 0);
}

/** Returns a line per finding: the verdict, the claim, and our ratios with their intervals. */
export function executorFindingLines(record: MeasuredRun): string[] {
  return executorFindings(record).map((finding) => `${LEAD[finding.verdict]}: ${executorFindingText(finding)}`);
}

/** Returns the sentences of one finding: the claim, our ratios with their intervals, and the reason. */
export function executorFindingText({ claim, measured, parts, verdict, whyDiffers }: ExecutorFinding): string {
  const known = parts.filter(({ rounds }) => rounds > 0);
  if (known.length === 0) return `${claim}. This run did not measure it.`;
  const because = verdict === "differs" && whyDiffers !== undefined ? ` ${whyDiffers}.` : "";
  const missing = parts.length - known.length;
  const rest = missing === 0 ? "" : `; ${missing} not measured`;
  return `${claim}. Here, ${measured}: ${known.map(partText).join("; ")}${rest}.${because}`;
}

/** Returns the ratio with its interval, and what it says about the finding. */
function partText({
  label,
  ratio = Number.NaN,
  low = Number.NaN,
  high = Number.NaN,
  rounds,
  verdict,
}: FindingPart): string {
  const few = rounds < ROUNDS_MIN ? `, only ${rounds} round${rounds === 1 ? "" : "s"}` : "";
  return `${label} ${shown(ratio)} (${shown(low)} to ${shown(high)}${few}), ${verdict}`;
}

/** Returns the table of the medians: a row for each way, a column for each work. Undefined without cells. */
export function executorsTable(record: MeasuredRun): Table | undefined {
  const rows = executorTable(record);
  const host = EXECUTOR_WORKS.flatMap((work) => executorCells(record, work))[0]?.host;
  const works = EXECUTOR_WORKS.filter((work) => rows.some(({ figures }) => figures[work] !== undefined));
  if (host === undefined) return undefined;
  const text = (figures: ExecutorFigures | undefined): TableCell =>
    figures === undefined ? { text: "–" } : { text: shown(figures.medianMs) };
  const roles = new Map(record.cells.map(({ mechanism, role }) => [mechanism, role]));
  return {
    scenario: PUBLISHED_EXECUTORS,
    host,
    load: "median time of a list of 100 actions; * as published",
    rowNoun: "way",
    columns: works.map((work) => ({ label: work, unit: "ms" })),
    rows: rows.map(({ mechanism, title, isPublished, figures }) => ({
      mechanism: isPublished ? `* ${mechanism}` : mechanism,
      title: isPublished ? `* ${title}` : title,
      role: roles.get(mechanism) ?? "peer",
      cells: works.map((work) => text(figures[work])),
    })),
  };
}
