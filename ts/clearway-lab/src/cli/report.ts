// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway report DIR`: writes report.html again from the results and the record of a run.
import path from "node:path";
import { readableError } from "./out-folder.js";
import { openPage } from "./out-page.js";
import { print } from "./print.js";
import { readRun, writeReport } from "./run-files.js";

/** Writes the report of the run in `folder`, to `out` or to the folder. Returns the exit status. */
export async function report(folder: string, { out }: { out?: string } = {}): Promise<number> {
  const { results, record } = readRun(folder);
  const file = out === undefined ? path.join(folder, "report.html") : openPage(out, "Clearway lab report");
  try {
    await writeReport(file, results, record);
  } catch (error) {
    throw readableError(error, file);
  }
  print(`${file} written\n`);
  return 0;
}
