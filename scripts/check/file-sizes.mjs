// SPDX-License-Identifier: MIT OR Apache-2.0
// A file is one noun or one verb: over 200 lines it is named, over 400 it fails. Tests and styles count as well.
import { isProgram, report } from "../problems.mjs";
import { files, source } from "../sources.mjs";

const linesMax = { named: 200, failed: 400 };

/**
 * Files that may be longer, each with the reason.
 * @type {Record<string, string>}
 */
export const exempt = {
  "native/include/clearway.h": "made by a program, from files that are not too long",
};

/** `{ problems, long }` for `[{ path, text }]`: what fails, and what is only named. */
export function sizes(sources, reasons = exempt) {
  const problems = [];
  const long = [];
  for (const { path, text } of sources) {
    const lines = text.split("\n").length - 1;
    if (reasons[path]) continue;
    if (lines > linesMax.failed) problems.push(`${path}: ${lines} lines; split it (at most ${linesMax.failed})`);
    else if (lines > linesMax.named) long.push(`${path}: ${lines} lines; ${linesMax.named} is where one noun ends`);
  }
  for (const path of Object.keys(reasons)) {
    if (!sources.some((file) => file.path === path)) problems.push(`${path}: exempt, but there is no such file`);
  }
  return { problems, long };
}

if (isProgram(import.meta)) {
  const sources = files(source).filter(({ path }) => !/^ts\/[\w-]+\/api\//.test(path));
  const { problems, long } = sizes(sources);
  for (const line of long) console.log(`  long: ${line}`);
  report(problems, `${sources.length} files, none over ${linesMax.failed} lines`);
}
