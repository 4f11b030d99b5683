// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway compare A B`: two runs. docs/lab/compare.md explains the method.
import { type Command, InvalidArgumentError, Option } from "commander";
import { compareKeptRuns, type RunsCompared } from "../compare/compare-kept-runs.js";
import { DIFFERENCE_KINDS, type DifferenceKind } from "../compare/differences.js";
import { type Metric, parseMetric } from "../compare/figures.js";
import { gateRuns } from "../compare/gate.js";
import { KeptRunError, readKeptRun } from "../compare/kept-run.js";
import type { CellName } from "../compare/match.js";
import { compareJson, gateJson } from "./compare-json.js";
import { compareLines, gateLines } from "./compare-text.js";
import { print } from "./print.js";
import { UsageError } from "./select.js";

/** Width of the output if it is not a terminal, and limits of the width on a terminal. */
const WIDTH = { usual: 80, min: 40, max: 120 };

interface CompareOptions {
  metric?: Metric;
  cells: string[];
  json?: boolean;
  max?: number;
  allow: DifferenceKind[];
  failUndecided?: boolean;
}

export function addCompare(program: Command): void {
  program
    .command("compare")
    .description("compare two runs, cell by cell: ratios, intervals, verdicts; with --max, fail if B is slower")
    .argument("<a>", "the run before the change: its folder, or its record.json")
    .argument("<b>", "the run after the change")
    .option("--cells <names...>", "only these families, scenarios (pool) or cells (pool/clearway)", split, [])
    .option(
      "--metric <name>",
      "another figure than the scenario's own: a value, or SAMPLE.QUANTILE (warmTask.p90)",
      metricOf,
    )
    .option(
      "--max <ratio>",
      "exit with status 1 if a cell of B is slower than in A by more than this ratio, such as 1.10, with evidence",
      parseMax,
    )
    .option("--fail-undecided", "with --max: also fail if a cell cannot be decided")
    .addOption(
      new Option("--allow <kinds...>", "with --max: go on although this differs between the runs")
        .choices(DIFFERENCE_KINDS)
        .default([]),
    )
    .option("--json", "print the result as JSON")
    .action((first: string, second: string, options: CompareOptions) => {
      const compared = compareSources(first, second, options);
      if (options.max !== undefined) gate(compared, { ...options, max: options.max });
      else {
        const shown = narrowed(compared, options.cells);
        printOutput(options.json === true ? compareJson(shown) : compareLines(shown, width()));
      }
    });
}

function gate(compared: RunsCompared, options: CompareOptions & { max: number }): void {
  const { cells, max, allow, failUndecided = false, json } = options;
  assertAllowed(compared, allow);
  const selects = cells.length === 0 ? {} : { selects: selectionOf(compared, cells) };
  const gated = gateRuns(compared, { max, failUndecided, ...selects });
  if (!gated.cells.some(({ ratio }) => ratio !== undefined))
    throw new UsageError("there is nothing to compare: no selected cell has rounds in both runs; leave --max out");
  printOutput(json === true ? gateJson(compared, gated) : gateLines(compared, gated, width()));
  process.exitCode = gated.verdict === "failed" ? 1 : 0;
}

function split(text: string, all: string[]): string[] {
  return [...all, ...text.split(",").filter((name) => name !== "")];
}

function metricOf(text: string): Metric {
  const metric = parseMetric(text);
  if (metric === undefined)
    throw new InvalidArgumentError("a figure is a name, or a name with .p1, .p10, .p50, .p90, .p99 or .p999");
  return metric;
}

function parseMax(text: string): number {
  const max = Number(text);
  if (text.trim() === "" || !Number.isFinite(max) || max < 1)
    throw new InvalidArgumentError("a limit is a ratio of at least 1, for example 1.10");
  return max;
}

function compareSources(first: string, second: string, { metric }: CompareOptions): RunsCompared {
  try {
    return compareKeptRuns(readKeptRun(first), readKeptRun(second), metric === undefined ? {} : { metric });
  } catch (error) {
    if (error instanceof KeptRunError) throw new UsageError(error.message);
    throw error;
  }
}

/** Returns the comparison with the named cells only. Their verdicts stay corrected for the number of all cells. */
function narrowed(compared: RunsCompared, names: readonly string[]): RunsCompared {
  if (names.length === 0) return compared;
  const selects = selectionOf(compared, names);
  return { ...compared, cells: compared.cells.filter(selects), others: compared.others.filter(selects) };
}

/** Returns a function that selects the named cells. Throws a UsageError for a name that selects none. */
function selectionOf({ cells, others }: RunsCompared, names: readonly string[]): (cell: CellName) => boolean {
  const all = [...cells, ...others];
  const isNamed = ({ family, scenario, mechanism }: CellName, name: string) =>
    [family, scenario, `${scenario}/${mechanism}`, `${family}/${scenario}/${mechanism}`].includes(name);
  const stranger = names.find((name) => !all.some((cell) => isNamed(cell, name)));
  if (stranger !== undefined) {
    const near = all.filter(({ scenario }) => scenario === stranger.split("/")[0]);
    const known = new Set(
      near.length === 0 ? all.map(({ scenario }) => scenario) : near.map(({ mechanism }) => mechanism),
    );
    const kind = near.length === 0 ? "Scenarios" : `Mechanisms of ${near[0]!.scenario}`;
    throw new UsageError(`neither run has a cell "${stranger}". ${kind}: ${[...known].sort().join(", ") || "none"}`);
  }
  return (cell) => names.some((name) => isNamed(cell, name));
}

function assertAllowed({ differences }: RunsCompared, allowed: readonly DifferenceKind[]): void {
  const refused = differences.filter(({ kind }) => !allowed.includes(kind));
  if (refused.length === 0) return;
  const lines = refused.map(({ what, a, b, next }) => `  ${what}: ${a} in A, ${b} in B (${next})`);
  const kinds = [...new Set(refused.map(({ kind }) => kind))].join(" ");
  throw new UsageError(
    `the runs differ in more than the measured code:\n${lines.join("\n")}\nTo go on in spite of that: --allow ${kinds}`,
  );
}

function width(): number {
  const columns = process.stdout.isTTY ? process.stdout.columns : Number(process.env["COLUMNS"] ?? WIDTH.usual);
  return Math.min(WIDTH.max, Math.max(WIDTH.min, columns || WIDTH.usual));
}

function printOutput(output: string[] | object): void {
  print(Array.isArray(output) ? `${output.join("\n")}\n` : `${JSON.stringify(output, null, 2)}\n`);
}
