// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints the tables of a run on a terminal, at most 100 columns wide. In a narrow terminal, a table has several parts.

import { answerLines, answersHeadline, loadNote, NOISE_NOTE, REST } from "../report/answer-text.js";
import { colours as pc } from "../report/colours.js";
import { doubtLines } from "../report/doubts.js";
import { folded } from "../report/fold.js";
import { offloadLines } from "../report/offload/lines.js";
import type { Table, TableRow } from "../report/table.js";
import { tablesOf } from "../report/tables.js";
import { verdictOf } from "../report/verdict.js";
import { answersOf } from "../run/answer.js";
import type { RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { columnsOf } from "./width.js";

export const WIDTH_MAX = 100;
/** Width of the names of mechanisms, in characters. */
const NAME_WIDTH = 24;
/** Width of a row's name in a narrow terminal. */
const NAME_WIDTH_NARROW = 18;

export function summary(results: Results, record: RunRecord, width = columnsOf() ?? WIDTH_MAX): string {
  const lines: string[] = [""];
  // The tables of an hour do not fit a terminal; the report has them.
  const tables = record.experiments === undefined ? tablesOf(results, record) : [];
  for (const table of tables.filter(({ folded, quiet }) => !folded && !quiet))
    lines.push(...tableLines(table, width), "");
  for (const { title, lines: said } of record.experiments === undefined ? offloadLines(results, record) : [])
    lines.push(pc.bold(title), ...said.flatMap((line) => wrap(`- ${line}`, width)), "");
  lines.push(...cellCounts(results, width), "");
  const doubts = doubtLines(results.warnings).flatMap((line) => wrap(`- ${line}`, width));
  if (doubts.length > 0) lines.push(pc.bold("Doubts"), ...doubts);
  lines.push("", pc.bold("Verdict"), ...verdictLines(results, record, width), "");
  return lines.join("\n");
}

/**
 * Returns the answers to the questions as a list with a line for each comparison. Without questions, returns the verdict as one paragraph.
 */
function verdictLines(results: Results, record: RunRecord, width: number): string[] {
  const answers = record.questions === undefined ? [] : answersOf(record, record.questions);
  if (record.experiments !== undefined)
    return verdictOf(results, record).flatMap((line, at) => [...wrap(line, width), ...(at === 0 ? [""] : [])]);
  if (answers.length === 0) return wrap(verdictOf(results, record).join(" "), width);
  const lines = answers
    .map(answerLines)
    .flatMap(({ sentence, parts }) => [
      ...wrap(`- ${sentence}${parts.length > 0 ? ":" : ""}`, width),
      ...parts.flatMap((part) => wrap(`  ${part}`, width)),
    ]);
  const head = [answersHeadline(answers), loadNote(results.machine)].filter((text) => text !== undefined).join(" ");
  return [...wrap(head, width), ...lines, ...wrap(`${NOISE_NOTE} ${REST}`, width).map(pc.dim)];
}

export function tableLines(table: Table, width = WIDTH_MAX): string[] {
  const parts = [table.scenario, "on " + table.host, table.load];
  const title = ascii(parts.filter((part) => part !== "").join(", "));
  const lines = wrap(title, width).map((line) => pc.bold(line));
  const widths = columnWidths(table);
  const whole = NAME_WIDTH + widths.reduce((sum, each) => sum + 1 + each, 0) <= width;
  const nameWidth = whole ? NAME_WIDTH : NAME_WIDTH_NARROW;
  for (const part of whole ? [widths.map((_, i) => i)] : columnGroups(widths, width - nameWidth))
    lines.push(...partLines(table, widths, part, nameWidth));
  return lines;
}

/** Splits columns into groups that fit `room`. A column that is wider has a group of its own. */
function columnGroups(widths: readonly number[], room: number): number[][] {
  const groups: number[][] = [];
  let left = 0;
  for (const [i, columnWidth] of widths.entries()) {
    const group = groups.at(-1);
    if (group === undefined || left < columnWidth + 1) {
      groups.push([i]);
      left = room - columnWidth - 1;
    } else {
      group.push(i);
      left -= columnWidth + 1;
    }
  }
  return groups;
}

/** Returns some columns of a table, with the names of all rows. */
function partLines(table: Table, widths: readonly number[], part: readonly number[], nameWidth: number): string[] {
  const pad = (texts: readonly string[]) => part.map((i) => (texts[i] ?? "").padStart(widths[i] ?? 0)).join(" ");
  const heads = table.columns.map(({ label }) => splitLabel(label));
  const blank = " ".repeat(nameWidth);
  const units = table.columns.map(({ unit }) => unit);
  const lines = [heads.map(([first]) => first), heads.map(([, second]) => second), units].map((texts) =>
    pc.dim(`${blank} ${pad(texts)}`),
  );
  for (const row of table.rows) {
    const text = `${shortened(row.mechanism, nameWidth).padEnd(nameWidth)} ${pad(cellTexts(row))}`;
    lines.push(row.role === "clearway" ? pc.green(text) : text);
  }
  return lines;
}

/** Shortens a name in its middle, because similar names differ at their ends. */
function shortened(name: string, width: number): string {
  if (name.length <= width) return name;
  const half = (width - 2) >> 1;
  return `${name.slice(0, width - 2 - half)}..${name.slice(-half)}`;
}

/** Puts doubtful figures in brackets. (The report shows them in grey.) */
function cellTexts(row: TableRow): string[] {
  return row.cells.map(({ text, doubtful }) => ascii(doubtful ? `(${text})` : text));
}

/** Terminals may lack the thin space of large numbers. */
function ascii(text: string): string {
  return text.replaceAll("\u202f", " ");
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

function cellCounts(results: Results, width: number): string[] {
  const count = (status: string) => results.cells.filter((cell) => cell.status === status).length;
  const text = `${count("ok")} cells measured, ${count("unavailable")} unavailable (why: clearway lab list --profile full), ${count("failed")} failed; seed ${results.run.seed}`;
  return wrap(text, width);
}

/** Breaks a text into lines. The lines after the first of a list's item, or of an indented text, are indented. */
export function wrap(text: string, width: number): string[] {
  return folded(text, width, /^(?: {2}|- )/.test(text) ? "  " : "");
}
