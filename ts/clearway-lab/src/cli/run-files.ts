// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the three files of a run. Checks the results against their schema first.
import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { assertSameRun, KeptRunError } from "../compare/kept-run.js";
import { ANSWERS_VERSION, type LabResults } from "../engine/answer.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { readText, recordIn } from "../run/record-file.js";
import type { Results } from "../run/results.js";
import { assertResults, readResults } from "../run/schema.js";
import { UsageError } from "./errors.js";

/** The files of a run. */
export const RUN_FILES = ["results.json", "record.json", "report.html"] as const;

/** Writes all files of a run. If one of them cannot be written, the folder keeps all files of the earlier run. */
export async function writeRun(folder: string, results: Results, record: RunRecord): Promise<void> {
  assertResults(results);
  const data = {
    [path.join(folder, "results.json")]: JSON.stringify(results) + "\n",
    [path.join(folder, "record.json")]: JSON.stringify(record) + "\n",
  };
  let report: string;
  try {
    report = await reportOf(results, record);
  } catch (error) {
    // A defect of the report must not lose a run of hours.
    writeFiles(data);
    throw error;
  }
  writeFiles({ ...data, [path.join(folder, "report.html")]: report });
}

export async function writeReport(file: string, results: Results, record: RunRecord): Promise<void> {
  writeFiles({ [file]: await reportOf(results, record) });
}

/** Writes the files of a run with answers. It has no record, so that of an earlier run goes. */
export async function writeAnswers(folder: string, results: LabResults): Promise<void> {
  const { answersHtml } = await import("../report/answers/page.js");
  writeFiles({
    [path.join(folder, "results.json")]: JSON.stringify(results, null, 1) + "\n",
    [path.join(folder, "report.html")]: answersHtml(results),
  });
  rmSync(path.join(folder, "record.json"), { force: true });
}

/** Reads the answers in a folder. Returns undefined if its run measured scenarios. */
export function readAnswers(folder: string): LabResults | undefined {
  const file = path.join(folder, "results.json");
  if (!existsSync(file)) return undefined;
  const results = JSON.parse(readFileSync(file, "utf8")) as LabResults | Results;
  return results.version === ANSWERS_VERSION ? (results as LabResults) : undefined;
}

/** Imports the report's code here, because jsdom and Plot take a second to load and would delay measurements. */
async function reportOf(results: Results, record: RunRecord): Promise<string> {
  const { reportHtml } = await import("../report/report.js");
  return reportHtml(results, record);
}

/** Reads a run. Throws a UsageError if the folder has none, or files of two runs. */
export function readRun(folder: string): { results: Results; record: RunRecord } {
  const files = [path.join(folder, "results.json"), recordIn(folder)] as const;
  for (const file of files) {
    if (!existsSync(file))
      throw new UsageError(`${file} does not exist: name the folder that \`clearway lab --out\` wrote`);
  }
  if (readAnswers(folder) !== undefined)
    throw new UsageError(
      `${files[0]} has answers, and this command takes runs of scenarios: measure with clearway lab WHAT --profile quick`,
    );
  const results = readResults(files[0]);
  const record = JSON.parse(readText(files[1])) as RunRecord;
  if (record.version !== RECORD_VERSION)
    throw new Error(`${files[1]} has an unsupported version: version=${record.version}`);
  try {
    assertSameRun(files[0], results, record);
  } catch (error) {
    throw error instanceof KeptRunError ? new UsageError(error.message) : error;
  }
  return { results, record };
}
