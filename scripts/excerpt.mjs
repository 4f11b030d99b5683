// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a stage's output: an excerpt of a failed one, which a run prints again at its end, and the number of tests. Knows the output of
// Vitest, of Maven, of cargo test, and of Clearway's own programs (`12 passed, 0 failed` or `12 passed, 0 failed, 3 skipped`).

const linesMax = 40;
const linesOfTest = 12;
const linesOfMaven = 6;
const widthMax = 240;

// The start of Vitest's own summary of failures.
const account = /^\s*⎯+\s*(Failed|Unhandled|Vitest caught)/;
const failing = /^\s*FAIL /;
// Maven's summary has the suite, then each failing test with its message and stack, then advice.
const mavenSays = /^\[ERROR\] /;
const mavenFailing = /^\[ERROR\] .*<<< (FAILURE|ERROR)!/;
const mavenSuite = /^\[ERROR\] Tests run:/;
// Other tools write one of these words in or before the important line, anywhere in their output.
const complaint = /\b(exceeded|error|failed|failure|panicked)\b/i;
const complaintsMax = 8;
const endOfOne = /^⎯+(\[\d+\/\d+\]⎯+)?$/;
const ansi = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g");

/**
 * Returns the failing tests of Vitest or Maven with their messages. For other tools, returns the lines with error words and the last lines.
 * Removes colours.
 */
export function excerptOf(output) {
  const lines = output.replace(ansi, "").split(/\r?\n/).filter(said);
  const chosen = chosenOf(lines);
  const rest = chosen.length - linesMax;
  const short = chosen
    .slice(0, linesMax)
    .map((line) => (line.length > widthMax ? `${line.slice(0, widthMax)} …` : line));
  return [...short, ...(rest > 0 ? [`… and ${rest} lines more above`] : [])].join("\n");
}

/** Returns one or two lines that say why a stage failed: the first failing test with its message, the first error, or the last line. */
export function reasonOf(excerpt) {
  const lines = excerpt.split("\n").map((line) => line.trim());
  const test = lines.findIndex((line) => failing.test(line));
  if (test >= 0) return lines.slice(test, test + 2);
  const unit = lines.findIndex((line) => mavenFailing.test(line) && !mavenSuite.test(line));
  if (unit >= 0) return lines.slice(unit, unit + 2);
  const maven = lines.findIndex((line) => mavenSays.test(line));
  if (maven >= 0) return lines.slice(maven, maven + 1);
  const first = lines.findIndex((line) => complaint.test(line));
  return first < 0 ? lines.slice(-1) : lines.slice(Math.max(0, first - 1), first + 1);
}

/** Returns the summary of Vitest or Maven. Without one, returns the lines with error words and the last lines. */
function chosenOf(lines) {
  const from = lines.findIndex((line) => account.test(line));
  if (from >= 0) return firstOfEach(lines.slice(from));
  const maven = [...lines.keys()].filter((at) => mavenSays.test(lines[at]));
  if (maven.length === 0) return complaintsAndEnd(lines);
  // Keeps each failing test with its message and the first calls of its stack.
  const shown = new Set(maven.flatMap((at) => (mavenFailing.test(lines[at]) ? span(at, linesOfMaven) : [at])));
  return lines.filter((_, at) => shown.has(at));
}

function span(from, count) {
  return Array.from({ length: count }, (_, index) => from + index);
}

function complaintsAndEnd(lines) {
  const end = Math.max(0, lines.length - linesMax / 2);
  const complaints = [...lines.keys()].filter((at) => at < end && complaint.test(lines[at])).slice(0, complaintsMax);
  // Also keeps the line before an error, which often names the failing part.
  const shown = new Set(complaints.flatMap((at) => [at - 1, at]));
  return lines.filter((_, at) => at >= end || shown.has(at));
}

/** Returns the first lines of each failure: its name and the start of its description. Leaves out the code and the stacks that follow. */
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

const vitest = /^\s*Tests\s+(?=.*\(\d+\))(.+)$/;
const cargo = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/;
const plain = /^(?:[^:]+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/;

const vitestCount = (text, word) => Number(new RegExp(`(\\d+) ${word}`).exec(text)?.[1] ?? 0);

function countOfLine(line) {
  const ours = plain.exec(line) ?? cargo.exec(line);
  if (ours) return { passed: Number(ours[1]), failed: Number(ours[2]), skipped: Number(ours[3] ?? 0) };
  const theirs = vitest.exec(line)?.[1];
  if (!theirs) return undefined;
  const [passed, failed] = [vitestCount(theirs, "passed"), vitestCount(theirs, "failed")];
  return { passed, failed, skipped: vitestCount(theirs, "skipped") };
}

/** Returns the sum `{ passed, failed, skipped }` of all runs in the output, or undefined if there are none. */
export function countOf(output) {
  const counts = output.replace(ansi, "").split(/\r?\n/).map(countOfLine).filter(Boolean);
  if (counts.length === 0) return undefined;
  const sum = (key) => counts.reduce((total, count) => total + count[key], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}
