// SPDX-License-Identifier: MIT OR Apache-2.0
// Formats the answer to a question as one sentence with its figures, ratio, interval, rounds and verdict.
import type { Answer, ComparedAnswer } from "../run/answer.js";
import type { Decision } from "../statistics/decide.js";
import { shown, times } from "./number.js";

/** Counts the answers by their verdict. */
export function answersHeadline(answers: readonly Answer[]): string {
  const count = (wanted: Answer["verdict"]) => answers.filter(({ verdict }) => verdict === wanted).length;
  const questions = answers.length === 1 ? "1 question" : `${answers.length} questions`;
  return `${questions}: ${count("decided")} decided, ${count("no difference")} without a difference, ${count("undecided")} undecided.`;
}

export function answerText({ question, parts }: Answer): string {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return `${filled(question.sentence, only)}: ${partText(only)}.`;
  return `${question.sentence}: ${parts.map((part) => `${part.compared.label} ${partText(part)}`).join("; ")}.`;
}

/** Inserts both figures into the sentence. Without a comparison it inserts the names of the mechanisms. */
function filled(sentence: string, { subject, reference, unit }: ComparedAnswer): string {
  const figure = (value: number | undefined) => (value === undefined ? "an unknown time" : `${shown(value)} ${unit}`);
  return sentence.replace("{subject}", figure(subject)).replace("{reference}", figure(reference));
}

function partText({ decision, why }: ComparedAnswer): string {
  if (decision === undefined) return `undecided (${why})`;
  const { verdict, ratio } = decision;
  if (why !== undefined) return `undecided (${why}; ${intervalText(decision)})`;
  if (verdict === "decided") return `${times(ratio)}, decided (${intervalText(decision)})`;
  return `${verdict} (${intervalText(decision)})`;
}

function intervalText({ low, high, rounds }: Decision): string {
  return `${times(low)} to ${times(high)} in ${rounds} ${rounds === 1 ? "round" : "rounds"}`;
}
