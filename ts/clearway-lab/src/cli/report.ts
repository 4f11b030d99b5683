// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway report DIR`: writes report.html again from the results of a run.
import path from "node:path";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { answersHtml } from "../report/answers/page.js";
import { openPage, readableError } from "./out-folder.js";
import { print } from "./print.js";
import { readAnswers } from "./run-files.js";

/** Writes the report of the run in `folder`, to `out` or to the folder. Returns the exit status. */
export function report(folder: string, { out }: { out?: string } = {}): number {
  const results = readAnswers(folder);
  const file = out === undefined ? path.join(folder, "report.html") : openPage(out, "Clearway lab report");
  try {
    writeFiles({ [file]: answersHtml(results) });
  } catch (error) {
    throw readableError(error, file);
  }
  print(`${file} written\n`);
  return 0;
}
