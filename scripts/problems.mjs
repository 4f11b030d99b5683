// SPDX-License-Identifier: MIT OR Apache-2.0
// Reports the problems of a check, one line each. The exit status is 1 if there are any.
import { existsSync, realpathSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Returns whether Node was started with the module of `meta`. Returns false if another module, such as a test, imported it. */
export function isProgram(meta) {
  const [, program] = process.argv;
  // With `node -e`, this is an argument of any form. Node names a module by its real path, also if it was started by a symbolic link.
  return program !== undefined && existsSync(program) && meta.url === pathToFileURL(realpathSync(program)).href;
}

/** Prints the problems. If there are none, prints the sentence `well`. */
export function report(problems, well) {
  for (const problem of problems) console.error(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`  ${well}`);
}
