// SPDX-License-Identifier: MIT OR Apache-2.0
// Prints a comparison of two runs, and the result of a gate.

import type { RunsCompared } from "../compare/compare-kept-runs.js";
import type { Gate, GatedCell } from "../compare/gate.js";
import type { CellName, UnmatchedCell } from "../compare/match.js";
import { type RunVerdict, VERDICTS } from "../compare/verdict.js";
import { colours as pc } from "../report/colours.js";
import { wrap } from "./terminal.js";

/** From this width on, a cell's name is in the line of its figures. */
const ONE_LINE_MIN = 72;
/** Number of cells that are listed as not compared. The rest is counted; --json has all. */
const OTHERS_MAX = 12;

const COLOURS: Record<RunVerdict | "within", (text: string) => string> = {
  slower: pc.red,
  faster: pc.green,
  undecided: pc.yellow,
  "no difference": (text) => text,
  within: (text) => text,
};

export function compareLines(compared: RunsCompared, width: number): string[] {
  const { cells, others } = compared;
  const names = shortNames([...cells, ...others]);
  const lines = [...headLines(compared, width), ""];
  const rows = cells.map((cell) => ({ ...cell, status: cell.verdict, name: names(cell) }));
  lines.push(...tableLines(rows, width), ...otherLines(others, names, width), "");
  const counts = VERDICTS.map((verdict) => `${cells.filter((cell) => cell.verdict === verdict).length} ${verdict}`);
  const summary = `${counted(cells.length, "cell")} compared: ${counts.join(", ")}; ${others.length} not compared.`;
  return [...lines, ...wrap(summary, width).map((line) => pc.bold(line))];
}

export function gateLines(
  compared: RunsCompared,
  { cells, max, verdict, failUndecided }: Gate,
  width: number,
): string[] {
  const names = shortNames([...compared.cells, ...compared.others]);
  const listed = cells.filter(({ status }) => status !== "within").map((cell) => ({ ...cell, name: names(cell) }));
  const lines = [...headLines(compared, width), ""];
  if (listed.length > 0) lines.push(...tableLines(listed, width), "");
  const count = (status: GatedCell["status"]) => cells.filter((cell) => cell.status === status).length;
  const counts = `${counted(cells.length, "cell")} gated: ${count("slower")} slower, ${count("undecided")} undecided, ${count("within")} within`;
  const hint =
    count("undecided") === 0 || failUndecided
      ? ""
      : " An interval of an undecided cell contains the limit, or it has too few rounds; such cells do not fail the gate (but with --fail-undecided they do).";
  const summary = `${verdict === "failed" ? "FAILED" : "Passed"} at --max ${max}: ${counts}.${hint}`;
  return [...lines, ...wrap(summary, width).map((line) => (verdict === "failed" ? pc.red(line) : pc.bold(line)))];
}

function headLines({ a, b, sameRun, paired, differences, noise }: RunsCompared, width: number): string[] {
  const run = (name: string, { file, record }: RunsCompared["a"]) =>
    `${name}  ${file}, ${record.startedAt.replace(/\.\d+Z$/, "Z")}, Clearway ${record.build.clearway}${record.build.commit === null ? "" : ` at ${record.build.commit}`}`;
  const doubts: string[] = [];
  if (sameRun) doubts.push("A and B are one and the same run.");
  for (const { what, a: first, b: second, next } of differences)
    doubts.push(`The ${what} differs: ${first} in A, ${second} in B. Next: ${next}.`);
  if (!paired) doubts.push("The runs are of two machines, so their rounds are not paired.");
  if (noise.source === "assumed")
    doubts.push(
      `Only ${counted(noise.cells, "cell")} of unchanged code: the noise between the runs is assumed, ${percent(noise.factor)}. Next: measure peers or references too.`,
    );
  const shift =
    Math.abs(Math.log(noise.shift)) < 0.0005
      ? "as fast"
      : noise.shift > 1
        ? `${percent(noise.shift)} slower`
        : `${percent(1 / noise.shift)} faster`;
  const machine = `Unchanged code was ${shift} in B (${counted(noise.cells, "cell")}); beyond that, single cells differed by about ${percent(noise.factor)}. The ratios are corrected for the former; above 1, B is slower.`;
  return [
    ...wrap(run("A", a), width),
    ...wrap(run("B", b), width),
    ...(noise.source === "measured" ? wrap(machine, width) : wrap("Ratios above 1: B is slower.", width)),
    ...doubts.flatMap((doubt) => wrap(`- ${doubt}`, width).map((line) => pc.yellow(line))),
  ];
}

interface Row extends CellName {
  name: string;
  status: RunVerdict | "within";
  ratio?: number;
  low?: number;
  high?: number;
  rounds: number;
  effectiveRounds?: number;
  why?: string;
}

function tableLines(rows: readonly Row[], width: number): string[] {
  if (rows.length === 0) return [];
  const statusWidth = Math.max(...rows.map(({ status }) => status.length));
  const figures = (row: Row) =>
    `${row.status.padEnd(statusWidth)} ${shown(row.ratio).padStart(5)} ${interval(row).padEnd(14)} ${String(row.rounds).padStart(3)} ${(row.effectiveRounds ?? 0).toFixed(1).padStart(4)}`;
  const head = `${"verdict".padEnd(statusWidth)} ratio ${"interval".padEnd(14)}   n n_eff`;
  const indent = width >= ONE_LINE_MIN ? statusWidth + 32 : 2;
  const lines = [pc.dim(width >= ONE_LINE_MIN ? `${head.padEnd(indent)}cell` : head)];
  for (const row of rows) {
    const text = row.why === undefined ? row.name : `${row.name} (${row.why})`;
    const parts = wrap(text, width - indent);
    const colour = COLOURS[row.status];
    if (width >= ONE_LINE_MIN) lines.push(`${colour(figures(row))}  ${parts.shift()?.trim() ?? ""}`);
    else lines.push(colour(figures(row)));
    lines.push(...parts.map((part) => " ".repeat(indent) + part.trim()));
  }
  return lines;
}

function otherLines(others: readonly UnmatchedCell[], names: (cell: CellName) => string, width: number): string[] {
  if (others.length === 0) return [];
  const lines = others.slice(0, OTHERS_MAX).flatMap((cell) => wrap(`- ${names(cell)}: ${cell.why}`, width));
  const rest = others.length - OTHERS_MAX;
  return ["", pc.bold("Not compared"), ...lines, ...(rest > 0 ? [`- and ${rest} more (--json has all)`] : [])];
}

/**
 * Returns a function that names a cell: SCENARIO/MECHANISM, the host, and as many parameters as tell it from the other cells of that
 * mechanism.
 */
function shortNames(cells: readonly CellName[]): (cell: CellName) => string {
  return ({ scenario, mechanism, host, params }) => {
    let others = cells.filter(
      (cell) => cell.scenario === scenario && cell.mechanism === mechanism && cell.host === host,
    );
    const parts = [`${scenario}/${mechanism}`, host];
    for (const [name, value] of Object.entries(params)) {
      const same = others.filter((cell) => cell.params[name] === value);
      if (same.length < others.length) parts.push(`${name}=${value}`);
      others = same;
    }
    return parts.join(" ");
  };
}

function interval({ low, high }: Row): string {
  return low === undefined || high === undefined ? "" : `[${shown(low)}, ${shown(high)}]`;
}

/** Formats a ratio: two digits after the point, or three significant digits if it is far from 1. */
function shown(ratio: number | undefined): string {
  if (ratio === undefined) return "-";
  if (ratio >= 0.1 && ratio < 100) return ratio.toFixed(2);
  return Number.isFinite(ratio) && ratio < 1e6 && ratio > 1e-3
    ? String(Number(ratio.toPrecision(2)))
    : ratio < 1
      ? "<.001"
      : ">1e6";
}

function percent(factor: number): string {
  return `${((factor - 1) * 100).toFixed(1)} %`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
