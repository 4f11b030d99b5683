// SPDX-License-Identifier: MIT OR Apache-2.0
// How a check tells what it found: one line a problem, exit status 1 if there is any.
import { pathToFileURL } from "node:url";

/** True when this module is the program that was started, rather than imported by a test. */
export function isProgram(meta) {
  return process.argv[1] !== undefined && meta.url === pathToFileURL(process.argv[1]).href;
}

/** Prints the problems, or the sentence that says all is well with what was looked at. */
export function report(problems, well) {
  for (const problem of problems) console.error(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`  ${well}`);
}
