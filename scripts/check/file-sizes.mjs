// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the length of files. A file should hold one concept, which usually takes 80 to 400 lines. Tests and styles are checked, too.
import { isProgram, report } from "../problems.mjs";
import { files, generated, source } from "../sources.mjs";

const linesMax = 400;

/**
 * Files that may be longer, each with the reason.
 * @type {Record<string, string>}
 */
export const exempt = {};

/** Returns a problem for each of `[{ path, text }]` that is too long, and for each exemption without a file. */
export function sizes(sources, reasons = exempt) {
  const problems = [];
  for (const { path, text } of sources) {
    const lines = text.split("\n").length - 1;
    if (lines > linesMax && !reasons[path]) problems.push(`${path}: ${lines} lines; split it (at most ${linesMax})`);
  }
  for (const path of Object.keys(reasons)) {
    if (!sources.some((file) => file.path === path)) problems.push(`${path}: exempt, but there is no such file`);
  }
  return problems;
}

if (isProgram(import.meta)) {
  const sources = files(source).filter(({ path }) => !generated.test(path));
  report(sizes(sources), `${sources.length} files, none over ${linesMax} lines`);
}
