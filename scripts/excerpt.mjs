// SPDX-License-Identifier: MIT OR Apache-2.0
// What of a failed stage's output is said again at the end of a run, because often only the end is read.

const linesMax = 40;
const linesOfTest = 12;
const widthMax = 240;

// Where Vitest's own account of the failures begins, and where one of them ends.
const account = /^\s*⎯+\s*(Failed|Unhandled|Vitest caught)/;
const failing = /^\s*FAIL /;
// What other tools write before or in the line that matters, wherever it stands in what they say.
const complaint = /\b(exceeded|error|failed|failure|panicked)\b/i;
const complaintsMax = 8;
const endOfOne = /^⎯+(\[\d+\/\d+\]⎯+)?$/;
const ansi = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g");

/** The failing tests with their messages, or the last lines where the output is not Vitest's. Plain text, without colours. */
export function excerptOf(output) {
  const lines = output.replace(ansi, "").split(/\r?\n/).filter(said);
  const from = lines.findIndex((line) => account.test(line));
  const chosen = from < 0 ? complaintsAndEnd(lines) : firstOfEach(lines.slice(from));
  const rest = chosen.length - linesMax;
  const short = chosen
    .slice(0, linesMax)
    .map((line) => (line.length > widthMax ? `${line.slice(0, widthMax)} …` : line));
  return [...short, ...(rest > 0 ? [`… and ${rest} lines more above`] : [])].join("\n");
}

/** In one or two lines why a stage failed: its first failing test with its message, or its first complaint, or its last line. */
export function reasonOf(excerpt) {
  const lines = excerpt.split("\n").map((line) => line.trim());
  const test = lines.findIndex((line) => failing.test(line));
  if (test >= 0) return lines.slice(test, test + 2);
  const first = lines.findIndex((line) => complaint.test(line));
  return first < 0 ? lines.slice(-1) : lines.slice(Math.max(0, first - 1), first + 1);
}

function complaintsAndEnd(lines) {
  const end = Math.max(0, lines.length - linesMax / 2);
  const complaints = [...lines.keys()].filter((at) => at < end && complaint.test(lines[at])).slice(0, complaintsMax);
  // With the line before: it often says of what.
  const shown = new Set(complaints.flatMap((at) => [at - 1, at]));
  return lines.filter((_, at) => at >= end || shown.has(at));
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
