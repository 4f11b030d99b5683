// SPDX-License-Identifier: MIT OR Apache-2.0
// Formats the answer to a question as one sentence with its figures, ratio, interval, rounds and verdict.
import { type Answer, type ComparedAnswer, verdictOfPart } from "../run/answer.js";
import { isBusy } from "../run/machine-warnings.js";
import type { Results } from "../run/results.js";
import { type Decision, isWithinNoise } from "../statistics/decide.js";
import { shown, times } from "./number.js";

/** Explains the noise that an undecided answer names. */
export const NOISE_NOTE =
  "The noise is the factor by which two measurements of the same thing differ in this run. A difference within the noise stays undecided.";

/** Tells where the measurements are that the questions leave out. */
export const REST = "The profile full measures everything else: clearway lab --profile full.";

/** Says beside which load the answers hold. Undefined if other programs used too little to change an answer, or if it is unknown. */
export function loadNote({ cores, otherCores }: Results["machine"]): string | undefined {
  if (otherCores === undefined || !isBusy(otherCores)) return undefined;
  return `Other programs used ${otherCores} of ${cores} cores during this run. Its answers hold beside that load; a quiet machine may give others.`;
}

/** Counts the questions, and their comparisons by verdict. */
export function answersHeadline(answers: readonly Answer[]): string {
  const parts = answers.flatMap((answer) => answer.parts);
  const count = (wanted: Answer["verdict"]) => parts.filter((part) => verdictOfPart(part) === wanted).length;
  const questions = `${counted(answers.length, "question")}, ${counted(parts.length, "comparison")}`;
  return `${questions}: ${count("decided")} decided, ${count("no difference")} without a difference, ${count("undecided")} undecided.`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns an answer as one sentence. */
export function answerText(answer: Answer): string {
  const { sentence, parts } = answerLines(answer);
  return parts.length === 0 ? sentence : `${sentence}: ${parts.join("; ")}.`;
}

/** Returns an answer as a sentence and one line per comparison. An answer with a single comparison is only a sentence. */
export function answerLines({ question, parts }: Answer): { sentence: string; parts: string[] } {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined)
    return { sentence: `${filled(question.sentence, only)}: ${partText(only)}.`, parts: [] };
  return {
    sentence: question.sentence,
    parts: parts.map((part) => `${part.compared.label}: ${figures(part)}${partText(part)}`),
  };
}

/** Inserts both figures into the sentence. Without a comparison it inserts the names of the mechanisms. */
function filled(sentence: string, { subject, reference, unit }: ComparedAnswer): string {
  const figure = (value: number | undefined) => (value === undefined ? "an unknown time" : `${shown(value)} ${unit}`);
  return sentence.replace("{subject}", figure(subject)).replace("{reference}", figure(reference));
}

/** Returns both figures of one of several comparisons, as `5 us against 9 us, `. Empty without a comparison. */
function figures({ subject, reference, unit }: ComparedAnswer): string {
  if (subject === undefined || reference === undefined) return "";
  return `${shown(subject)} ${unit} against ${shown(reference)} ${unit}, `;
}

function partText({ decision, why }: ComparedAnswer): string {
  if (decision === undefined) return `undecided (${why})`;
  const { verdict, ratio } = decision;
  if (why !== undefined) return `undecided (${why}; ${intervalText(decision)})`;
  if (verdict === "decided") return `${times(ratio)}, decided (${intervalText(decision)})`;
  if (isWithinNoise(decision)) return `undecided (${intervalText(decision)}; ${noiseText(decision)})`;
  return `${verdict} (${intervalText(decision)})`;
}

/** Names the noise floor that a difference did not exceed. */
export function noiseText({ floor }: Decision): string {
  return floor === undefined ? "noise not measured" : `noise ${times(floor)}`;
}

function intervalText(decision: Decision): string {
  return `${rangeText(decision)} in ${decision.rounds} ${decision.rounds === 1 ? "round" : "rounds"}`;
}

/** Returns the ends of a decision's interval, as `1.2 to 1.4 times` or `1/1.4 to 1.1 times`. */
export function rangeText({ low, high }: Decision): string {
  return `${times(low).replace(/ times$/, "")} to ${times(high)}`;
}
