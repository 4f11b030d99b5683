// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway export FORMAT RUN`: writes a run in the format of other tools.
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { type ExportFormat, FORMAT_NAMES, FORMATS, type FormatName } from "../export/formats.js";
import { type Exported, type ExportSource, SamplesGoneError } from "../export/source.js";
import { makeFolders } from "../machine/make-folders.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { RECORD_FILES, readText } from "../run/record-file.js";
import { resultsOf } from "../run/results.js";
import { assertResults } from "../run/schema.js";
import { headOf } from "./file-head.js";
import { didYouMean } from "./nearest.js";
import { print, printError } from "./print.js";
import { UsageError } from "./select.js";

/** The files of a run, in the order in which an export looks for them. The first has samples, the others only figures. */
const RUN_FILES = [...RECORD_FILES, "results.json", "promises.json"];

/** Adds the command to the program. */
export function addExport(program: Command): void {
  const formats = FORMAT_NAMES.map((name) => `  ${name.padEnd(12)} ${FORMATS[name].title}`).join("\n");
  program
    .command("export")
    .description("convert a run for other tools")
    .argument("<format>", FORMAT_NAMES.join(", "), parseFormat)
    .argument("<run>", "the folder of a run, or its record.json, results.json or promises.json")
    .option(
      "--out <path>",
      "output file, or folder for hgrm; - is the standard output; default: a file in the run's folder",
    )
    .addHelpText("after", `\nFormats:\n${formats}`)
    .action((format: FormatName, run: string, options: { out?: string }) => {
      process.exitCode = exportRun(format, run, options);
    });
}

/** Exports the run in `run`. Returns the exit status: 1 if the run has nothing that the format can hold. */
export function exportRun(name: FormatName, run: string, { out }: { out?: string }): number {
  const format: ExportFormat = FORMATS[name];
  const source = readSource(run);
  let exported: Exported;
  try {
    exported = format.convert(source);
  } catch (error) {
    if (!(error instanceof SamplesGoneError)) throw error;
    printError(`nothing to export: ${error.message}\n`);
    return 1;
  }
  const { files, count, leftOut } = exported;
  tellLeftOut(leftOut);
  if (count === 0) {
    printError(`nothing to export: no cell of ${source.file} has what ${name} holds\n`);
    return 1;
  }
  if (out === "-") {
    if (files.length > 1)
      throw new UsageError(`--out - needs one file, and ${name} makes ${files.length}: name a folder`);
    print(files[0]!.text);
    return 0;
  }
  const target = out ?? path.join(path.dirname(source.file), format.target);
  const outputs = files.map(({ name: file, text }) => ({
    to: format.several ? path.join(target, file) : target,
    text,
  }));
  try {
    if (format.several) makeFolders(target);
    // Checks all files before it writes the first.
    for (const { to, text } of outputs) refuseForeign(to, text, name);
    writeFiles(Object.fromEntries(outputs.map(({ to, text }) => [to, text])));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot write ${target}; name another place with --out: ${(error as Error).message}`);
  }
  print(`${target} written: ${count} ${format.counted[count === 1 ? 0 : 1]}\n`);
  return 0;
}

/** Throws a UsageError if a file exists and is not an earlier export in this format. Devices and pipes are written to. */
function refuseForeign(file: string, text: string, name: FormatName): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile() || found.size === 0) return;
  if (!FORMATS[name].isOwn(headOf(file), text))
    throw new UsageError(
      `${file} was not written by \`clearway export ${name}\`, and would be overwritten; name another place with --out, or move it away`,
    );
}

/** The number of cells that a message names. */
const namedMax = 3;

function tellLeftOut(leftOut: Exported["leftOut"]): void {
  for (const why of new Set(leftOut.map((each) => each.why))) {
    const cells = leftOut.filter((each) => each.why === why).map(({ cell }) => cell);
    const more = cells.length > namedMax ? `\n  and ${cells.length - namedMax} more` : "";
    const named = cells.slice(0, namedMax).map((cell) => `\n  ${cell}`);
    printError(`left out ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, ${why}:${named.join("")}${more}\n`);
  }
}

/** Reads a record or a results file. Throws UsageError if the path is neither. */
export function readSource(run: string): ExportSource {
  const file = fileOf(run);
  let value: unknown;
  try {
    value = JSON.parse(readText(file));
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (isRecord(value)) return sourceOf(file, value);
  try {
    assertResults(value);
  } catch (error) {
    throw new UsageError(
      `${file} is not the record of a run (record.json), nor its results (results.json, promises.json): ${(error as Error).message}`,
    );
  }
  return { file, results: value };
}

/** Returns a record as a source. If its histograms were removed, the figures in the results.json next to it are the source. */
function sourceOf(file: string, record: RunRecord): ExportSource {
  const gone = samplesGone(record);
  if (gone === undefined) {
    try {
      return { file, record, results: resultsOf(record) };
    } catch (error) {
      throw new UsageError(
        `${file} is damaged, no figures follow from its rounds: ${(error as Error).message.slice(0, 200)}`,
      );
    }
  }
  const beside = path.join(path.dirname(file), "results.json");
  if (!existsSync(beside))
    throw new UsageError(
      `${file} has lost samples: ${gone} has no histogram, and there is no results.json with the figures next to it`,
    );
  return { ...readSource(beside), gone: `${file} at ${gone}` };
}

/** Returns the place of the first samples whose histogram was removed, as a JSON pointer. */
function samplesGone({ cells }: RunRecord): string | undefined {
  for (const [cell, { rounds }] of cells.entries()) {
    for (const [round, { measurement }] of rounds.entries()) {
      for (const [name, set] of Object.entries(measurement?.samples ?? {}))
        if (typeof set?.hdr !== "string" || set.hdr === "")
          return `/cells/${cell}/rounds/${round}/measurement/samples/${name}`;
    }
  }
  return undefined;
}

function fileOf(run: string): string {
  if (!existsSync(run))
    throw new UsageError(`${run} does not exist: name the folder that \`clearway lab --out\` wrote`);
  if (!statSync(run).isDirectory()) return run;
  const files = RUN_FILES.map((name) => path.join(run, name));
  const found = files.find((file) => existsSync(file));
  if (found === undefined)
    throw new UsageError(
      `${run} has none of ${RUN_FILES.join(", ")}: name the folder that \`clearway lab --out\` wrote`,
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

export function parseFormat(text: string): FormatName {
  const format = FORMAT_NAMES.find((each) => each === text);
  if (format === undefined)
    throw new InvalidArgumentError(
      `unknown format "${text}". Formats: ${FORMAT_NAMES.join(", ")}.${didYouMean(text, FORMAT_NAMES)}`,
    );
  return format;
}
