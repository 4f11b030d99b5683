// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the three files of a run. Checks the results against their schema first.
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { readText, recordIn } from "../run/record-file.js";
import type { Results } from "../run/results.js";
import { assertResults, readResults } from "../run/schema.js";
import { UsageError } from "./errors.js";

/** The files of a run. */
export const RUN_FILES = ["results.json", "record.json", "report.html"] as const;

export async function writeRun(folder: string, results: Results, record: RunRecord): Promise<void> {
  assertResults(results);
  writeWhole(path.join(folder, "results.json"), JSON.stringify(results, null, 2) + "\n");
  writeWhole(path.join(folder, "record.json"), JSON.stringify(record) + "\n");
  await writeReport(path.join(folder, "report.html"), results, record);
}

/** Writes the report. Imports the report's code here, because jsdom and Plot take a second to load and would delay measurements. */
export async function writeReport(file: string, results: Results, record: RunRecord): Promise<void> {
  const { reportHtml } = await import("../report/report.js");
  writeWhole(file, reportHtml(results, record));
}

/** Reads a run, kept or not. Throws a UsageError if the folder has none. */
export function readRun(folder: string): { results: Results; record: RunRecord } {
  const files = [path.join(folder, "results.json"), recordIn(folder)] as const;
  for (const file of files) {
    if (!existsSync(file))
      throw new UsageError(
        `${file} does not exist: name the folder that \`clearway lab --out\` or \`clearway keep\` wrote`,
      );
  }
  const results = readResults(files[0]);
  const record = JSON.parse(readText(files[1])) as RunRecord;
  if (record.version !== RECORD_VERSION)
    throw new Error(`${files[1]} has an unsupported version: version=${record.version}`);
  return { results, record };
}

/** Writes to a temporary file and renames it, so that an interrupted write leaves the old file intact. */
export function writeWhole(file: string, text: string): void {
  const part = `${file}.part`;
  try {
    writeFileSync(part, text);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}
