// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway compare A B` and `clearway gate A B`: two kept runs. docs/lab/compare.md explains the method.
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

interface Common {
  metric?: Metric;
  cells: string[];
  json?: boolean;
}

export function addCompare(program: Command): void {
  withCommon(
    program.command("compare").description("compare two kept runs, cell by cell: ratios, intervals, verdicts"),
  ).action((first: string, second: string, options: Common) => {
    const compared = narrowed(compareSources(first, second, options), options.cells);
    printOutput(options.json === true ? compareJson(compared) : compareLines(compared, width()));
  });
}

interface GateArguments extends Common {
  max: number;
  allow: DifferenceKind[];
  failUndecided?: boolean;
}

export function addGate(program: Command): void {
  withCommon(
    program
      .command("gate")
      .description("exit with status 1 if a cell of run B is slower than in run A by more than a limit, with evidence"),
  )
    .addOption(
      new Option("--max <ratio>", "the largest allowed ratio of B to A, for example 1.10")
        .argParser(parseMax)
        .makeOptionMandatory(),
    )
    .option("--fail-undecided", "also fail if a cell cannot be decided")
    .addOption(
      new Option("--allow <kinds...>", "go on although this differs between the runs")
        .choices(DIFFERENCE_KINDS)
        .default([]),
    )
    .action((first: string, second: string, options: GateArguments) => {
      const compared = compareSources(first, second, options);
      assertAllowed(compared, options.allow);
      const { cells, max, failUndecided = false } = options;
      const selects = cells.length === 0 ? {} : { selects: selectionOf(compared, cells) };
      const gate = gateRuns(compared, { max, failUndecided, ...selects });
      if (!gate.cells.some(({ ratio }) => ratio !== undefined))
        throw new UsageError(
          "the gate has nothing to compare: no selected cell has rounds in both runs; see clearway compare",
        );
      printOutput(options.json === true ? gateJson(compared, gate) : gateLines(compared, gate, width()));
      process.exitCode = gate.verdict === "failed" ? 1 : 0;
    });
}

function withCommon(command: Command): Command {
  return command
    .argument("<a>", "the run before the change: its folder, or its record.json")
    .argument("<b>", "the run after the change")
    .option("--cells <names...>", "only these families, scenarios (pool) or cells (pool/clearway)", split, [])
    .option(
      "--metric <name>",
      "another figure than the scenario's own: a value, or SAMPLE.QUANTILE (warmTask.p90)",
      metricOf,
    )
    .option("--json", "print the result as JSON");
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

function compareSources(first: string, second: string, { metric }: Common): RunsCompared {
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
