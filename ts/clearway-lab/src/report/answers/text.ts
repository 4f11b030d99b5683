// SPDX-License-Identifier: MIT OR Apache-2.0
// The answers for a terminal: what to do, the answers by group, the control, the doubts.
import type { LabResults } from "../../engine/answer.js";
import { colours } from "../colours.js";
import { openingOf } from "./advice.js";
import { controlText, doubtsOf, GROUPS, sentenceOf, shownAnswers, unansweredOf, unansweredText } from "./words.js";

/**
 * Returns lines that the caller breaks to the width of the terminal. Lines of a list begin with a hyphen. `lines` says what to do; default:
 * what the answers advise.
 */
export function answersText(results: LabResults, lines: readonly string[] = openingOf(results).lines): string[] {
  const unanswered = unansweredOf(results);
  const answers = shownAnswers(results).filter((each) => !unanswered.includes(each));
  const rest = unansweredText(results);
  const { title } = openingOf(results);
  const section = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ["", colours.bold(title), ...lines];
  const list = (lines: readonly string[]): string[] => lines.map((line) => `- ${line}`);
  const control = controlText(results);
  return [
    // A title of the user's is shown in any case.
    ...(results.run.title === undefined ? [] : ["", colours.bold(title)]),
    ...(results.run.title === undefined ? section(title, list(lines)) : list(lines)),
    ...GROUPS.flatMap(({ verdict, title }) =>
      section(
        title,
        list([
          ...answers.filter((answer) => answer.verdict === verdict).map((answer) => sentenceOf(answer, results)),
          ...(verdict === "open" && rest !== undefined ? [rest] : []),
        ]),
      ),
    ),
    ...(control === undefined ? [] : section("The control", [control])),
    ...section("Doubts", list(doubtsOf(results).map(({ text, next }) => `${text} Next: ${next}.`))),
    "",
  ];
}
