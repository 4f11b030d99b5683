// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes and reads the files of a run of the engine.
import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Argument, type Command } from "commander";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import schema from "../../../../spec/results.schema.json" with { type: "json" };
import type { LabResults } from "../engine/answer.js";
import { jetpackOfExecutors, jetpackReport, markdownText } from "../export/formats.js";
import { answersHtml } from "../report/answers/page.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { openPage, readableError } from "./out-folder.js";
import { print, printJson, UsageError } from "./print.js";

/** The files of a run. */
export const RUN_FILES = ["results.json", "report.html"] as const;

/** The file of a run of the published experiments. */
export const RECORD_FILE = "record.json";

/** Upper limit of a file that is read. A run has about 50 KB, and one of the published experiments 3 MB. */
const FILE_BYTES_MAX = 64 * 2 ** 20;

/** Writes all files of a run. If one of them cannot be written, the folder keeps all files of the earlier run. */
export async function writeAnswers(folder: string, results: LabResults): Promise<void> {
  writeFiles({
    [path.join(folder, "results.json")]: JSON.stringify(results, null, 1) + "\n",
    [path.join(folder, "report.html")]: answersHtml(results),
  });
}

/** Reads the results of a run: a folder, or the file itself. Throws a UsageError if they are missing or malformed. */
function readAnswers(run: string): LabResults {
  const file = isFolder(run) ? path.join(run, "results.json") : run;
  if (!existsSync(file)) {
    const next = existsSync(path.join(run, RECORD_FILE))
      ? `${RECORD_FILE}, of --profile published, is for \`clearway export jetpack\``
      : "name the folder that `clearway lab --out` wrote";
    throw new UsageError(`${file} does not exist: ${next}`);
  }
  const value = readJson(file);
  const problem = problemOf(value);
  if (problem !== undefined)
    throw new UsageError(`${file} is not the results of a run (spec/results.schema.json): ${problem}`);
  return value as LabResults;
}

const isFolder = (run: string): boolean => statSync(run, { throwIfNoEntry: false })?.isDirectory() === true;

function readJson(file: string): unknown {
  if (statSync(file).size > FILE_BYTES_MAX) throw new UsageError(`${file} is too large for the results of a run`);
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message.slice(0, 120)}`);
  }
}

/** Returns the record of the published experiments that `run` is, or that this folder has instead of results.json. */
function recordOf(run: string): RunRecord | undefined {
  const file = isFolder(run) && !existsSync(path.join(run, "results.json")) ? path.join(run, RECORD_FILE) : run;
  if (path.basename(file) !== RECORD_FILE || !existsSync(file)) return undefined;
  const value = readJson(file) as RunRecord | null;
  const has = (part: unknown) => typeof part === "object" && part !== null;
  const isCell = (cell: RunRecord["cells"][number] | null) => has(cell?.params) && Array.isArray(cell?.rounds);
  const cells = Array.isArray(value?.cells) && value.cells.every(isCell);
  if (value?.version !== RECORD_VERSION || !cells || !has(value.machine) || !has(value.build))
    throw new UsageError(`${file} is not the record of \`clearway lab --profile published\``);
  return value;
}

/** Returns the first places at which a value does not match the schema, or undefined. */
export function problemOf(value: unknown): string | undefined {
  const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(schema);
  if (validate(value)) return undefined;
  return (validate.errors ?? [])
    .slice(0, 5)
    .map(({ instancePath, message }) => `${instancePath || "/"} ${message}`)
    .join("; ");
}

// `clearway report DIR`: writes report.html again from the results of a run.

/** Writes the report of the run in `folder`, to `out` or to the folder. Returns the exit status. */
export function report(folder: string, { out }: { out?: string } = {}): number {
  if (existsSync(folder) && !isFolder(folder)) throw new UsageError(`${folder} is a file: name the folder of the run`);
  const results = readAnswers(folder);
  const file = out ?? path.join(folder, "report.html");
  openPage(file, "Clearway lab report");
  try {
    writeFiles({ [file]: answersHtml(results) });
  } catch (error) {
    throw readableError(error, file);
  }
  print(`${file} written\n`);
  return 0;
}

// `clearway export FORMAT RUN`: prints a run in another format. The JSON of a run is its results.json.

/** Adds the command to the program. */
export function addExport(program: Command): void {
  program
    .command("export")
    .description("print a run as Markdown, or as the Benchmark JSON of Android's Jetpack Benchmark")
    .addArgument(new Argument("<format>").choices(["markdown", "jetpack"]))
    .argument(
      "<run>",
      "the folder of a run, or its results.json; for jetpack also the record.json of --profile published",
    )
    .action((format: "markdown" | "jetpack", run: string) => {
      const record = format === "jetpack" ? recordOf(run) : undefined;
      if (record !== undefined) {
        printJson(jetpackOfExecutors(record));
        return;
      }
      const results = readAnswers(run);
      if (format === "markdown") print(markdownText(results));
      else printJson(jetpackReport(results));
    });
}
