// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway report DIR`: writes report.html again from the results.json and record.json of a run.
import { existsSync } from "node:fs";
import path from "node:path";
import { readRun, writeReport } from "./run-files.js";
import { UsageError } from "./select.js";

export async function report(folder: string): Promise<number> {
  for (const name of ["results.json", "record.json"]) {
    if (!existsSync(path.join(folder, name))) {
      throw new UsageError(
        `${path.join(folder, name)} does not exist: name the folder that \`clearway lab --out\` wrote`,
      );
    }
  }
  const { results, record } = readRun(folder);
  await writeReport(folder, results, record);
  process.stdout.write(`${path.join(folder, "report.html")} written\n`);
  return 0;
}
