// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway trend`: the ratios of kept runs over time, as text, as a page or as JSON. docs/lab/trend.md explains it.
import { statSync } from "node:fs";
import type { Command } from "commander";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { readRecords } from "../records/read-records.js";
import { trendOf } from "../records/trend.js";
import type { Trend } from "../records/trend-data.js";
import { trendHtml } from "../report/trend/page.js";
import { TREND_TITLE } from "../report/trend/words.js";
import { FailedError, UsageError } from "./errors.js";
import { printJson } from "./json.js";
import { RECORDS_FOLDER } from "./keep.js";
import { readableError } from "./out-folder.js";
import { openPage } from "./out-page.js";
import { print, printError } from "./print.js";
import { trendLines } from "./trend-text.js";
import { columnsOf } from "./width.js";

export const TREND_VERSION = 1;

interface TrendOptions {
  records: string;
  out?: string;
  json?: boolean;
}

export function addTrend(program: Command): void {
  program
    .command("trend")
    .description("show how the ratios of kept runs changed over time, for each machine")
    .option("--records <dir>", "the folder of records, which clearway keep fills", RECORDS_FOLDER)
    .option("--out <file>", "also write a page (HTML) with a chart of each comparison")
    .option("--json", "print JSON")
    .action((options: TrendOptions) => {
      process.exitCode = trend(options);
    });
}

/** Prints the trend. Returns the exit status: 1 if no run is kept. */
export function trend({ records, out, json = false }: TrendOptions): number {
  const file = out === undefined ? undefined : openPage(out, TREND_TITLE);
  const found = readTrend(records);
  if (file !== undefined) writePage(file, found);
  if (json) printJson({ version: TREND_VERSION, records, ...found });
  else print(`${trendLines(found, columnsOf()).join("\n")}\n`);
  if (file !== undefined) (json ? printError : print)(`${file} written\n`);
  return found.machines.length === 0 ? 1 : 0;
}

function readTrend(records: string): Trend {
  const found = statSync(records, { throwIfNoEntry: false });
  if (found === undefined)
    throw new UsageError(
      `${records} does not exist: keep a run with clearway keep DIR, or name the folder of records with --records`,
    );
  if (!found.isDirectory()) throw new UsageError(`--records ${records} is a file; name the folder of records`);
  try {
    return trendOf(readRecords(records));
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new FailedError(`cannot read ${records}: ${error.message}`, "change its owner or its mode");
  }
}

function writePage(file: string, found: Trend): void {
  try {
    writeFiles({ [file]: trendHtml(found) });
  } catch (error) {
    throw readableError(error, file);
  }
}
