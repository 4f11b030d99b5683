// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts the tests that a stage ran. Reads the output of Vitest, of cargo test, and of Clearway's own programs (`12 passed, 0 failed` or
// `12 passed, 0 failed, 3 skipped`).

const ansi = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[A-Za-z]`, "g");
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
