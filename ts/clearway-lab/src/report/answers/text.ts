// SPDX-License-Identifier: MIT OR Apache-2.0
// The answers for a terminal: what to do, the answers by group, the control, the doubts; and what `clearway measure` says beyond them.
import type { Crossing } from "../../bench/function.js";
import type { Answer, LabResults } from "../../engine/answer.js";
import { droppedFrames, frames, ms } from "../../statistics/stalls.js";
import { colours } from "../colours.js";
import { openingOf, withoutAdvice } from "./advice.js";
import {
  controlText,
  doubtsOf,
  GROUPS,
  sentenceOf,
  shownAnswers,
  UNNOTICED_NS,
  unansweredOf,
  unansweredText,
} from "./words.js";

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
  const opening = lines.length === 0 ? [withoutAdvice(results)] : list(lines);
  const control = controlText(results);
  return [
    // A title of the user's is shown in any case.
    ...(results.run.title === undefined ? [] : ["", colours.bold(title)]),
    ...(results.run.title === undefined ? section(title, opening) : opening),
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

// What `clearway measure` says of a function beyond the answers: frames, its copy, another device, the budget.

export interface FunctionFacts {
  /** Absent if the function cannot run in a worker, or if its result cannot be cloned. */
  crossing?: Crossing;
  /** Why the call in a worker failed. */
  notInWorker?: string;
}

/** The longest stall of the main thread in a call, and the frames that it drops. */
export interface Stall {
  ms: number;
  dropped60: number;
  dropped120: number;
}

/** Returns the stalls of both ways, in the time of a device that takes `ratio` times as long as this machine. */
export function stallsOf({ answers, controls }: LabResults, ratio = 1): { direct?: Stall; worker?: Stall } {
  const [answer, control] = [answers, controls].map((all) => all.find(({ verb }) => verb === "blocks"));
  const [direct, worker] = [answer?.peerNs ?? control?.peerNs, answer?.subjectNs].map((ns) => {
    if (ns === undefined) return undefined;
    const length = thereNs(ns, ratio) / 1e6;
    return { ms: length, dropped60: droppedFrames([length], 60), dropped120: droppedFrames([length], 120) };
  });
  return { ...(direct && { direct }), ...(worker && { worker }) };
}

/** A call without a noticeable stall has none on a slower device. */
const thereNs = (ns: number, ratio: number): number => (ns <= UNNOTICED_NS ? ns : ns * ratio);

/** Returns what to do with a function, one line each. `there` names the device whose time is `ratio` times this machine's. */
export function adviceForFunction(
  results: LabResults,
  { crossing, notInWorker }: FunctionFacts,
  { budget, ratio = 1, there }: { budget?: number | undefined; ratio?: number | undefined; there?: string | undefined },
): string[] {
  const { direct, worker } = stallsOf(results, ratio);
  const converted = ({ verb, subjectNs, peerNs, ...rest }: Answer): Answer => ({
    ...rest,
    ...(verb && { verb }),
    ...(subjectNs !== undefined && { subjectNs: verb === undefined ? subjectNs : thereNs(subjectNs, ratio) }),
    ...(peerNs !== undefined && { peerNs: verb === undefined ? peerNs : thereNs(peerNs, ratio) }),
  });
  const { lines } = openingOf({ ...results, answers: results.answers.map(converted) });
  return [
    ...(lines.length === 0 && direct !== undefined && worker !== undefined ? [soFar(direct, worker)] : lines),
    ...(direct === undefined ? [] : [dropsLine(direct, worker, there === undefined ? "" : " there")]),
    ...(notInWorker === undefined ? [] : [`It fails in a worker: ${notInWorker.replace(/\.$/, "")}.`]),
    ...(crossing === undefined || worker === undefined || worker.dropped120 === 0
      ? []
      : copyLines(crossing, worker.ms / ratio)),
    ...(crossing?.isResultDifferent === true
      ? ["The worker returned another result: the function depends on time, chance or the main thread's state."]
      : []),
    ...(there === undefined
      ? []
      : [`There: ${there}. The stalls above are in its time; the answers are this machine's.`]),
    ...(budget === undefined ? [] : [budgetLine(results, direct, budget, ratio)]),
  ];
}

/** The stalls of a function whose calls are so long that the time ended before the least number of pairs. */
const soFar = (direct: Stall, worker: Stall): string =>
  `So far, a call in a worker blocks the main thread for ${ms(worker.ms)}, and a direct call for ${ms(direct.ms)}.`;

function dropsLine(direct: Stall, worker: Stall | undefined, where: string): string {
  const none = [direct, worker].every((stall) => stall === undefined || stall.dropped120 === 0);
  if (none) return `No frame is dropped at 60 or 120 Hz${where}.`;
  const text = ({ dropped60, dropped120 }: Stall) =>
    dropped120 === 0 ? "none" : `${frames(dropped60)} at 60 Hz and ${dropped120} at 120 Hz`;
  return `A direct call drops ${text(direct)}${where}${worker === undefined ? "" : `; a call in a worker ${text(worker)}`}.`;
}

/** Says what the copy takes, and the way out, if it is at least half of the worker's stall. */
function copyLines({ argumentsMs, resultMs }: Crossing, stallMs: number): string[] {
  if (argumentsMs + resultMs < stallMs / 2) return [];
  return [
    resultMs >= argumentsMs
      ? `Its result takes ${ms(resultMs)} to copy: return a table of records (docs/records.md), or slices as a stream (docs/recipes-streams.md#read-a-long-result-as-a-stream-and-stop-early).`
      : `Its arguments take ${ms(argumentsMs)} to copy: move buffers (docs/recipes.md#move-a-large-array-instead-of-copying-it), or pass a table of records (docs/records.md).`,
  ];
}

function budgetLine(
  { answers, controls }: LabResults,
  direct: Stall | undefined,
  budget: number,
  ratio: number,
): string {
  const why = [...answers, ...controls].find(({ failed }) => failed !== undefined)?.failed;
  if (direct === undefined && why !== undefined) return `Budget: not measured: ${why.replace(/\.$/, "")}.`;
  if (direct === undefined) return "Budget: the time ended before a stall was measured; give it more with --time.";
  const length = ratio === 1 ? ms(direct.ms) : `${ms(direct.ms)} there (${ms(direct.ms / ratio)} here x ${ratio})`;
  return `Budget: ${direct.ms > budget ? "over" : "within"} it: ${length} of ${ms(budget)} on the main thread.`;
}
