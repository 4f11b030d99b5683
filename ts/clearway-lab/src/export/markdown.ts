// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the answers of a run as Markdown, for an issue, a pull request or a page: what to do, the answers by group, the doubts, the figures.
import type { LabResults } from "../engine/answer.js";
import { openingOf } from "../report/answers/advice.js";
import {
  controlText,
  doubtsOf,
  GROUPS,
  ratioText,
  sentenceOf,
  shownAnswers,
  timeText,
} from "../report/answers/words.js";
import { duration } from "../report/number.js";

export function markdownText(results: LabResults): string {
  const { run, machine, controls } = results;
  const answers = shownAnswers(results);
  const { title, lines } = openingOf(results);
  const list = (heading: string, texts: readonly string[]): string[] =>
    texts.length === 0 ? [] : [heading, texts.map((text) => `- ${escaped(text)}`).join("\n")];
  const control = controlText(results);
  const parts = [
    ...list(`# ${escaped(title)}`, lines),
    escaped(
      `${run.startedAt}, ${duration(run.durationMs)}${run.interrupted ? ", interrupted" : ""}; ${machine.cpu}, ${machine.cores} cores.`,
    ),
    ...GROUPS.flatMap((group) =>
      list(
        `## ${group.title}`,
        answers.filter(({ verdict }) => verdict === group.verdict).map((answer) => sentenceOf(answer, results)),
      ),
    ),
    ...(control === undefined ? [] : ["## The control", escaped(control)]),
    ...list(
      "## Doubts",
      doubtsOf(results).map(({ text, next }) => `${text} Next: ${next}.`),
    ),
    "## All figures",
    table([
      ["question", "ratio", "interval", "time", "peer's time", "pairs"],
      ["---", "---:", "---:", "---:", "---:", "---:"],
      ...[...answers, ...controls].map(({ name, interval, subjectNs, peerNs, pairs }) => [
        escaped(name),
        interval === undefined ? "" : ratioText(interval.ratio),
        interval === undefined ? "" : `${ratioText(interval.low)} to ${ratioText(interval.high)}`,
        subjectNs === undefined ? "" : timeText(subjectNs),
        peerNs === undefined ? "" : timeText(peerNs),
        String(pairs.length),
      ]),
    ]),
  ];
  return `${parts.join("\n\n")}\n`;
}

const table = (rows: readonly (readonly string[])[]): string => rows.map((row) => `| ${row.join(" | ")} |`).join("\n");

/** Keeps a text in one cell or one line. Markdown and HTML in it are shown and not interpreted. */
function escaped(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.replace(/[\\`*_{}[\]<>|#]/g, (found) => `\\${found}`);
}
