// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the results of `clearway bench` on a terminal, as wide as the terminal.

import { answerLines, answersHeadline } from "../report/answer-text.js";
import { loneWayLines, mainThreadLines } from "../report/bench-text.js";
import { colours as pc } from "../report/colours.js";
import { doubtLines } from "../report/doubts.js";
import type { Table } from "../report/table.js";
import { tablesOf } from "../report/tables.js";
import { answersOf } from "../run/answer.js";
import type { RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { tableLines, WIDTH_MAX, wrap } from "./terminal.js";

/** The narrowest text, in characters. */
const WIDTH_MIN = 50;
/** Longest line of a column's heading, in characters. */
const HEAD_WIDTH_MAX = 12;

export function benchSummary(
  results: Results,
  record: RunRecord,
  columns = process.stdout.columns ?? WIDTH_MAX,
): string {
  const width = Math.max(WIDTH_MIN, Math.min(columns, WIDTH_MAX));
  const lines: string[] = [""];
  for (const table of tablesOf(results, record)) lines.push(...tableLines(withShortHeadings(table), width), "");
  const failed = results.cells.filter(({ status, params }) => status === "failed" && params["control"] === undefined);
  for (const { mechanism, params, why } of failed) {
    const input = params["input"] === undefined ? "" : ` with input ${params["input"]}`;
    lines.push(...wrap(`- ${mechanism}${input} failed: ${why}`, width).map((line) => pc.red(line)));
  }
  if (failed.length > 0) lines.push("");
  const doubts = doubtLines(results.warnings.filter(({ code }) => code !== "cell-failed"));
  if (doubts.length > 0) lines.push(pc.bold("Doubts"), ...doubts.flatMap((line) => wrap(`- ${line}`, width)), "");
  const seen = mainThreadLines(results, record).flatMap((line) => wrap(line, width));
  if (seen.length > 0) lines.push(pc.bold("Main thread"), ...seen, "");
  lines.push(pc.bold("Verdict"), ...verdictLines(record, width), "");
  return lines.join("\n");
}

function verdictLines(record: RunRecord, width: number): string[] {
  const answers = answersOf(record, record.questions ?? []);
  if (answers.length === 0) return loneWayLines(record).flatMap((line) => wrap(line, width));
  return [
    ...wrap(answersHeadline(answers), width),
    ...answers
      .map(answerLines)
      .flatMap(({ sentence, parts }) => [
        ...wrap(`- ${sentence}${parts.length > 0 ? ":" : ""}`, width),
        ...parts.flatMap((part) => wrap(`  ${part}`, width)),
      ]),
  ];
}

/** Shortens the name of the reference in the headings. The verdict has it in full. */
function withShortHeadings(table: Table): Table {
  return { ...table, columns: table.columns.map((column) => ({ ...column, label: shortened(column.label) })) };
}

function shortened(label: string): string {
  const [first = "", ...rest] = label.split(" ");
  const name = rest.join(" ");
  return name.length > HEAD_WIDTH_MAX ? `${first} ${name.slice(0, HEAD_WIDTH_MAX - 1)}…` : label;
}
