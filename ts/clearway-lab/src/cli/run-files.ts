// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the three files of a run. Checks the results against their schema first.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { assertResults, readResults } from "../run/schema.js";

export async function writeRun(folder: string, results: Results, record: RunRecord): Promise<void> {
  assertResults(results);
  writeWhole(path.join(folder, "results.json"), JSON.stringify(results, null, 2) + "\n");
  writeWhole(path.join(folder, "record.json"), JSON.stringify(record) + "\n");
  await writeReport(folder, results, record);
}

/** Writes the report. Imports the report's code here, because jsdom and Plot take a second to load and would delay measurements. */
export async function writeReport(folder: string, results: Results, record: RunRecord): Promise<void> {
  const { reportHtml } = await import("../report/report.js");
  writeWhole(path.join(folder, "report.html"), reportHtml(results, record));
}

export function readRun(folder: string): { results: Results; record: RunRecord } {
  const results = readResults(path.join(folder, "results.json"));
  const record = JSON.parse(readFileSync(path.join(folder, "record.json"), "utf8")) as RunRecord;
  if (record.version !== RECORD_VERSION)
    throw new Error(`record.json has an unsupported version: version=${record.version}`);
  return { results, record };
}

/** Writes to a temporary file and renames it, so that an interrupted write leaves the old file intact. */
function writeWhole(file: string, text: string): void {
  writeFileSync(file + ".part", text);
  renameSync(file + ".part", file);
}
