// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway report DIR`: writes report.html again from the results and the record of a run.
import path from "node:path";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { readableError } from "./out-folder.js";
import { openPage } from "./out-page.js";
import { print } from "./print.js";
import { readAnswers, readRun, writeReport } from "./run-files.js";

/** Writes the report of the run in `folder`, to `out` or to the folder. Returns the exit status. */
export async function report(folder: string, { out }: { out?: string } = {}): Promise<number> {
  const answers = readAnswers(folder);
  const run = answers === undefined ? readRun(folder) : undefined;
  const file = out === undefined ? path.join(folder, "report.html") : openPage(out, "Clearway lab report");
  try {
    if (answers !== undefined) {
      const { answersHtml } = await import("../report/answers/page.js");
      writeFiles({ [file]: answersHtml(answers) });
    } else await writeReport(file, run!.results, run!.record);
  } catch (error) {
    throw readableError(error, file);
  }
  print(`${file} written\n`);
  return 0;
}
