// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the tables of a run on a terminal, at most 100 columns wide.
import pc from "picocolors";
import { answerLines, answersHeadline } from "../report/answer-text.js";
import { doubtLines } from "../report/doubts.js";
import { offloadLines } from "../report/offload/lines.js";
import { REST } from "../report/report.js";
import type { Table, TableRow } from "../report/table.js";
import { tablesOf } from "../report/tables.js";
import { verdictOf } from "../report/verdict.js";
import { answersOf } from "../run/answer.js";
import type { RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";

export const WIDTH_MAX = 100;
const NAME_WIDTH = 24;

export function summary(results: Results, record: RunRecord): string {
  const lines: string[] = [""];
  for (const table of tablesOf(results, record).filter(({ folded, quiet }) => !folded && !quiet))
    lines.push(...tableLines(table), "");
  for (const { title, lines: said } of offloadLines(results, record))
    lines.push(pc.bold(title), ...said.flatMap((line) => wrap(`- ${line}`, WIDTH_MAX)), "");
  lines.push(...cellCounts(results), "");
  const doubts = doubtLines(results.warnings).flatMap((line) => wrap(`- ${line}`, WIDTH_MAX));
  if (doubts.length > 0) lines.push(pc.bold("Doubts"), ...doubts);
  lines.push("", pc.bold("Verdict"), ...verdictLines(results, record), "");
  return lines.join("\n");
}

/**
 * Returns the answers to the questions as a list with a line for each comparison. Without questions, returns the verdict as one paragraph.
 */
function verdictLines(results: Results, record: RunRecord): string[] {
  const answers = record.questions === undefined ? [] : answersOf(record, record.questions);
  if (answers.length === 0) return wrap(verdictOf(results, record).join(" "), WIDTH_MAX);
  const lines = answers
    .map(answerLines)
    .flatMap(({ sentence, parts }) => [
      ...wrap(`- ${sentence}${parts.length > 0 ? ":" : ""}`, WIDTH_MAX),
      ...parts.flatMap((part) => wrap(`  ${part}`, WIDTH_MAX)),
    ]);
  return [...wrap(answersHeadline(answers), WIDTH_MAX), ...lines, ...wrap(REST, WIDTH_MAX).map(pc.dim)];
}

export function tableLines(table: Table): string[] {
  const title = [table.scenario, "on " + table.host, table.load].filter((part) => part !== "").join(", ");
  const widths = columnWidths(table);
  const pad = (texts: string[]) => texts.map((text, i) => text.padStart(widths[i]!)).join(" ");
  const heads = table.columns.map(({ label }) => splitLabel(label));
  const lines = wrap(title, WIDTH_MAX).map((line) => pc.bold(line));
  const blank = " ".repeat(NAME_WIDTH);
  lines.push(pc.dim(`${blank} ${pad(heads.map(([first]) => first))}`));
  lines.push(pc.dim(`${blank} ${pad(heads.map(([, second]) => second))}`));
  lines.push(pc.dim(`${blank} ${pad(table.columns.map(({ unit }) => unit))}`));
  for (const row of table.rows) {
    const text = `${row.mechanism.slice(0, NAME_WIDTH).padEnd(NAME_WIDTH)} ${pad(cellTexts(row))}`;
    lines.push(row.role === "clearway" ? pc.green(text) : text);
  }
  return lines;
}

/** Puts doubtful figures in brackets. (The report shows them in grey.) */
function cellTexts(row: TableRow): string[] {
  return row.cells.map(({ text, doubtful }) => (doubtful ? `(${text})` : text).replace(/\u202f/g, " "));
}

/** Splits a label at its first space into two lines. */
function splitLabel(label: string): [string, string] {
  const at = label.indexOf(" ");
  return at < 0 ? ["", label] : [label.slice(0, at), label.slice(at + 1)];
}

function columnWidths(table: Table): number[] {
  return table.columns.map((column, i) =>
    Math.max(
      ...splitLabel(column.label).map((part) => part.length),
      column.unit.length,
      ...table.rows.map((row) => cellTexts(row)[i]?.length ?? 0),
    ),
  );
}

function cellCounts(results: Results): string[] {
  const count = (status: string) => results.cells.filter((cell) => cell.status === status).length;
  const text = `${count("ok")} cells measured, ${count("unavailable")} unavailable (why: clearway lab list), ${count("failed")} failed; seed ${results.run.seed}`;
  return wrap(text, WIDTH_MAX);
}

export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = text.startsWith("  ") || text.startsWith("- ") ? "  " + word : word;
    } else line = line === "" && lines.length === 0 && word === "" ? " " : line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
