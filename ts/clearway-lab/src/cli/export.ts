// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway export FORMAT RUN`: prints a run in another format. The JSON of a run is its results.json.
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { Argument, type Command } from "commander";
import { jetpackReport } from "../export/jetpack.js";
import { markdownText } from "../export/markdown.js";
import { assertJetpack } from "../export/schema.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { RECORD_FILES, readText } from "../run/record-file.js";
import { type Results, resultsOf } from "../run/results.js";
import { assertResults } from "../run/schema.js";
import { printJson } from "./json.js";
import { print } from "./print.js";
import { UsageError } from "./select.js";

/** The files of a run, in the order in which an export looks for them. The first has samples, the others only figures. */
const RUN_FILES = [...RECORD_FILES, "results.json"];

/** Adds the command to the program. */
export function addExport(program: Command): void {
  program
    .command("export")
    .description("print a run as Markdown tables, or as the Benchmark JSON of Android's Jetpack Benchmark")
    .addArgument(new Argument("<format>").choices(["markdown", "jetpack"]))
    .argument("<run>", "the folder of a run, or its record.json or results.json")
    .action((format: "markdown" | "jetpack", run: string) => {
      const { file, results, record } = readSource(run);
      if (format === "markdown") {
        print(markdownText(results, record));
        return;
      }
      if (record === undefined) throw new UsageError(`jetpack needs samples, and ${file} has only figures`);
      const report = jetpackReport(record);
      assertJetpack(report);
      printJson(report);
    });
}

/** Reads a record or a results file. Throws a UsageError if the path is neither. */
function readSource(run: string): { file: string; results: Results; record?: RunRecord } {
  const file = fileOf(run);
  try {
    const value: unknown = JSON.parse(readText(file));
    if (isRecord(value)) return { file, record: value, results: resultsOf(value) };
    assertResults(value);
    return { file, results: value };
  } catch (error) {
    throw new UsageError(
      `${file} is not the record of a run (record.json), nor its results (results.json): ${(error as Error).message.slice(0, 200)}`,
    );
  }
}

function fileOf(run: string): string {
  if (!existsSync(run))
    throw new UsageError(`${run} does not exist: name the folder that \`clearway lab --profile NAME --out\` wrote`);
  if (!statSync(run).isDirectory()) return run;
  const files = RUN_FILES.map((name) => path.join(run, name));
  const found = files.find((file) => existsSync(file));
  if (found === undefined)
    throw new UsageError(
      `${run} has none of ${RUN_FILES.join(", ")}: name the folder that \`clearway lab --profile NAME --out\` wrote`,
    );
  return found;
}

/** Returns whether a value is a record of this version. A record has rounds in each cell, and the results have none. */
function isRecord(value: unknown): value is RunRecord {
  const { version, cells } = (value ?? {}) as Partial<RunRecord>;
  return (
    version === RECORD_VERSION &&
    Array.isArray(cells) &&
    cells.length > 0 &&
    cells.every(({ rounds }) => Array.isArray(rounds))
  );
}
