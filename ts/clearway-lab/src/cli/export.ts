// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway export jetpack DIR|FILE`: writes a run in the format of other tools.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { InvalidArgumentError } from "commander";
import { jetpackReport } from "../export/jetpack.js";
import { assertJetpack } from "../export/schema.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { UsageError } from "./select.js";

export const EXPORT_FORMATS = ["jetpack"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Exports the run in `source`. Returns the exit status: 1 if the run has no time to export. */
export async function exportRun(_: ExportFormat, source: string, { out }: { out?: string }): Promise<number> {
  const report = jetpackReport(readRecord(source));
  assertJetpack(report);
  if (report.benchmarks.length === 0) {
    process.stderr.write("nothing to export: no cell of this run measured a time\n");
    return 1;
  }
  const text = JSON.stringify(report, null, 2) + "\n";
  if (out === "-") {
    process.stdout.write(text);
    return 0;
  }
  // Tools that read this format find their files by the end of this name.
  const file = out ?? path.join(folderOf(source), "clearway-benchmarkData.json");
  writeFileSync(file, text);
  process.stdout.write(
    `${file} written: ${report.benchmarks.length} ${report.benchmarks.length === 1 ? "benchmark" : "benchmarks"}\n`,
  );
  return 0;
}

function readRecord(source: string): RunRecord {
  const file = existsSync(source) && statSync(source).isDirectory() ? path.join(source, "record.json") : source;
  if (!existsSync(file))
    throw new UsageError(`${file} does not exist: name the folder that \`clearway lab --out\` wrote`);
  const record = JSON.parse(readFileSync(file, "utf8")) as RunRecord;
  if (record.version !== RECORD_VERSION || !Array.isArray(record.cells))
    throw new UsageError(`${file} is not the record of a run (record.json): version=${record.version}`);
  return record;
}

function folderOf(source: string): string {
  return statSync(source).isDirectory() ? source : path.dirname(source);
}

export function parseFormat(text: string): ExportFormat {
  const format = EXPORT_FORMATS.find((each) => each === text);
  if (format === undefined)
    throw new InvalidArgumentError(`unknown format "${text}". Formats: ${EXPORT_FORMATS.join(", ")}`);
  return format;
}
