// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports a check's problems: one line each, and exit status 1 if there are any.
import { pathToFileURL } from "node:url";

/** Whether this module is the started program, and not imported by a test. */
export function isProgram(meta) {
  return process.argv[1] !== undefined && meta.url === pathToFileURL(process.argv[1]).href;
}

/** Prints the problems, or `well`, the sentence for a check without problems. */
export function report(problems, well) {
  for (const problem of problems) console.error(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`  ${well}`);
}
