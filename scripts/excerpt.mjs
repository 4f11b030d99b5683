// SPDX-License-Identifier: MIT OR Apache-2.0
// What of a failed stage's output is said again at the end of a run, because often only the end is read.

const linesMax = 40;
const linesOfTest = 12;
const widthMax = 240;

// Where Vitest's own account of the failures begins, and where one of them ends.
const account = /^\s*⎯+\s*(Failed|Unhandled|Vitest caught)/;
const endOfOne = /^⎯+(\[\d+\/\d+\]⎯+)?$/;
const ansi = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g");

/** The failing tests with their messages, or the last lines where the output is not Vitest's. Plain text, without colours. */
export function excerptOf(output) {
  const lines = output.replace(ansi, "").split(/\r?\n/).filter(said);
  const from = lines.findIndex((line) => account.test(line));
  const chosen = from < 0 ? lines.slice(-linesMax / 2) : firstOfEach(lines.slice(from));
  const rest = chosen.length - linesMax;
  const short = chosen
    .slice(0, linesMax)
    .map((line) => (line.length > widthMax ? `${line.slice(0, widthMax)} …` : line));
  return [...short, ...(rest > 0 ? [`… and ${rest} lines more above`] : [])].join("\n");
}

/** Of each failure its name and how it failed begin; code around it and stacks come later. */
function firstOfEach(lines) {
  const chosen = [];
  let taken = 0;
  for (const line of lines) {
    if (endOfOne.test(line.trim())) taken = 0;
    else if (taken++ < linesOfTest) chosen.push(line);
  }
  return chosen;
}

function said(line) {
  return line.trim() !== "" && !line.startsWith("npm warn");
}
