// SPDX-License-Identifier: MIT OR Apache-2.0
// Answers as sentences: what takes longer, by how much, and what would decide it. The terminal and the page have the same words.
import type { Answer, LabResults } from "../../engine/answer.js";
import type { Verdict } from "../../engine/estimate.js";
import { TIME_S_MAX } from "../../engine/plan.js";
import { hostTitle } from "../host-titles.js";
import { duration, shown } from "../number.js";

/** The groups of the report, in its order. */
export const GROUPS: readonly { verdict: Verdict; title: string }[] = [
  { verdict: "faster", title: "Faster" },
  { verdict: "slower", title: "Slower" },
  { verdict: "no difference", title: "No difference" },
  { verdict: "open", title: "Open" },
];

/** Formats a ratio: two digits after the point, or the first two digits of one below 0.1. */
export const ratioText = (ratio: number): string =>
  ratio < 0.1 ? String(Number(ratio.toPrecision(2))) : ratio < 10 ? ratio.toFixed(2) : shown(ratio);

const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "us"],
  [1, "ns"],
] as const;

/** Formats a time with its unit: that of `unitNs`, if it is given. */
export function timeText(ns: number, unitNs = ns): string {
  const [scale, unit] = UNITS.find(([least]) => unitNs >= least) ?? [1, "ns"];
  return `${shown(ns / scale)} ${unit}`;
}

/** Formats two times that are compared. They have the unit of the longer one, unless that is more than a hundred times the other. */
export function pairText(a: number, b: number): [string, string] {
  const longest = Math.max(a, b);
  return longest > 100 * Math.min(a, b) ? [timeText(a), timeText(b)] : [timeText(a, longest), timeText(b, longest)];
}

/** Formats a limit for the ratio of Clearway's cost to the other's. */
export const limitText = (ratio: number, verb?: Answer["verb"]): string =>
  ratio === 1
    ? "at most as long"
    : ratio < 1
      ? `at least ${shown(1 / ratio)} times ${verb === "block" ? "shorter" : "as fast"}`
      : `at most ${shown(ratio)} times as long`;

/** Returns the answer as one sentence, with its interval and its times, and another one about its limit. `results` has the answer. */
export function sentenceOf(answer: Answer, results?: LabResults): string {
  const { limit, verb, verdict } = answer;
  // An open answer ends with a command, and has said that more time is needed.
  if (limit === undefined || verdict === "open") return answerOf(answer, results);
  const start = { held: "Within its limit", missed: "Beyond its limit", open: "Not clear whether within its limit" };
  return `${answerOf(answer, results)} ${start[limit.verdict]}: ${limitText(limit.ratio, verb)}.`;
}

function answerOf(answer: Answer, results?: LabResults): string {
  const { thing, peer, verb = "takes", verdict, interval, failed } = answer;
  const isStall = verb === "block" || verb === "blocks";
  if (failed !== undefined) return `${thing}: not measured, ${failed.replace(/\.$/, "")}.`;
  if (interval === undefined) return `${thing}: the time was too short for an answer.${furtherText(answer, results)}`;
  const { ratio, low, high } = interval;
  const range = `(${ratioText(low)} to ${ratioText(high)})`;
  if (verdict === "no difference")
    return isStall
      ? `${thing} ${verb} the main thread as long as ${peer}, within 10 % ${range}.`
      : `${thing}: no difference to ${peer}, within 10 % ${range}.`;
  if (verdict === "open")
    return isStall
      ? `${thing} ${verb} the main thread between ${ratioText(low)} and ${ratioText(high)} times as long as ${peer}.${furtherText(answer, results)}`
      : `${thing}: between ${ratioText(low)} and ${ratioText(high)} times ${peer}.${furtherText(answer, results)}`;
  const times = timesText(answer);
  // The opposite of a small ratio is easier to read: "200 times shorter" instead of "0.005 times as long".
  if (ratio >= 1)
    return `${thing} ${verb}${isStall ? " the main thread" : ""} ${ratioText(ratio)} times as long as ${peer} ${range}${times}.`;
  const inverse = `(${ratioText(1 / high)} to ${ratioText(1 / low)})`;
  return isStall
    ? `${thing} ${verb} the main thread ${ratioText(1 / ratio)} times shorter than ${peer} ${inverse}${times}.`
    : `${thing} ${verb === "take" ? "are" : "is"} ${ratioText(1 / ratio)} times as fast as ${peer} ${inverse}${times}.`;
}

function timesText({ subjectNs, peerNs }: Answer): string {
  if (subjectNs === undefined || peerNs === undefined) return "";
  const [mine, other] = pairText(subjectNs, peerNs);
  return `: ${mine}, not ${other}`;
}

/** Says which command decides an open answer. */
function furtherText({ name, furtherMs, command = `clearway lab ${name}` }: Answer, results?: LabResults): string {
  const hopeless = ` More time would hardly decide it.`;
  if (furtherMs === undefined) return hopeless;
  const seconds = Math.max(10, Math.ceil(furtherMs / 10_000) * 10);
  // All answers of a scenario share the time of its run, and the command decides all of them.
  const runMs =
    results?.run.kind === "bench"
      ? results.answers.reduce((ms, each) => ms + (each.furtherMs ?? 0), results.run.durationMs)
      : furtherMs * 1.5;
  if (commandSeconds(runMs) > TIME_S_MAX) return hopeless;
  return ` About ${duration(seconds * 1000)} more would decide: ${command} --time ${commandSeconds(runMs)}`;
}

/** A new run also repeats the pairs so far. */
const commandSeconds = (ms: number): number => Math.ceil(ms / 30_000) * 30;

/** Returns the answers that a reader is shown. Where no way blocks the thread longer than the meter notices, there is nothing to compare. */
export const shownAnswers = ({ answers }: LabResults): Answer[] =>
  answers.filter(
    ({ verb, interval, subjectNs = 0, peerNs = 0 }) =>
      verb !== "blocks" || (interval !== undefined && Math.max(subjectNs, peerNs) > UNNOTICED_NS),
  );

/** From this number of answers for which the time was too short, one sentence names them all. */
const UNANSWERED_MIN = 4;

/** Returns the answers that are named in one sentence, because the time was too short for their least number of pairs. */
export function unansweredOf(results: LabResults): Answer[] {
  const all = shownAnswers(results).filter((each) => each.interval === undefined && each.failed === undefined);
  return all.length < UNANSWERED_MIN ? [] : all;
}

/** Names them, with the command that answers them: the lab asks only these again. Undefined if there are none. */
export function unansweredText(results: LabResults): string | undefined {
  const all = unansweredOf(results);
  if (all.length === 0) return undefined;
  const { command, durationMs, kind } = results.run;
  const furtherMs = commandSeconds(all.reduce((ms, each) => ms + (each.furtherMs ?? 0), 0)) * 1000;
  const names = all.map(({ name }) => name);
  const timeMs = kind === "lab" ? furtherMs : durationMs + furtherMs;
  if (commandSeconds(timeMs) > TIME_S_MAX)
    return `The time was too short for ${all.length} ${kind === "lab" ? "questions" : "answers"}: ${names.join(", ")}. An hour would not do.`;
  if (kind === "lab")
    return `The time was too short for ${all.length} questions. At most ${duration(furtherMs)} would answer them: clearway lab ${names.join(" ")}${command.includes(" --limits") ? " --limits" : ""} --time ${furtherMs / 1000}`;
  const again = `${command.replace(/ --time \S+/, "")} --time ${commandSeconds(timeMs)}`;
  return `The time was too short for ${all.length} answers: ${names.join(", ")}. At most ${duration(furtherMs)} more would do: ${again}`;
}

/** The shortest stall that `clearway bench` and `clearway measure` notice. */
export const UNNOTICED_NS = 1e6;

/** One line for the controls: the same mechanism twice, on each host. */
export function controlText({ controls }: LabResults): string | undefined {
  const parts = controls.flatMap(({ host, interval, verb }) =>
    interval === undefined || verb === "blocks"
      ? []
      : `${hostTitle(host)} ${ratioText(interval.ratio)} (${ratioText(interval.low)} to ${ratioText(interval.high)})`,
  );
  return parts.length === 0 ? undefined : `The same mechanism twice, which should give 1: ${parts.join(", ")}.`;
}

export interface Doubt {
  text: string;
  next: string;
}

/** Share of the cores from which other programs count. */
export const OTHERS_MIN = 0.25;
const DOUBTS_MAX = 3;
/** A doubt about more answers than this counts them. */
const NAMES_MAX = 4;

/** Returns at most three doubts, the gravest first, and then all that is missing, each with its next step. */
export function doubtsOf(results: LabResults): Doubt[] {
  const { run, controls, missing } = results;
  const answers = shownAnswers(results);
  const names = (all: readonly { name: string }[]) =>
    all.length > NAMES_MAX ? `${all.length} answers` : all.map(({ name }) => name).join(", ");
  const failed = [...results.answers, ...controls].filter(({ failed }) => failed !== undefined);
  // A control is no answer, so a reader knows it by its way only. A way fails with its stalls.
  const failedNames = new Set(
    failed.map(({ name, way, peer, verb }) =>
      peer === "itself" ? (way ?? name) : verb === "blocks" ? name.replace(/\/stall$/, "") : name,
    ),
  );
  const beside = answers.filter(({ otherShare = 0 }) => otherShare >= OTHERS_MIN);
  const warming = answers.filter(({ stillWarming = 0, pairs }) => stillWarming > pairs.length / 2);
  const apart = controls.filter(({ verdict }) => verdict === "faster" || verdict === "slower");
  const share = Math.max(0, ...beside.map(({ otherShare = 0 }) => otherShare));
  const all: (Doubt | undefined)[] = [
    run.interrupted ? { text: "The run was interrupted.", next: `run it again: ${run.command}` } : undefined,
    failed.length > 0
      ? {
          text: `Failed: ${names([...failedNames].map((name) => ({ name })))} (${failed[0]!.failed}).`,
          next: run.kind === "bench" ? "correct it, and run again" : "clearway hosts shows what is installed",
        }
      : undefined,
    beside.length > 0
      ? {
          text: `Beside other programs: they used up to ${Math.round(share * 100)} % of the cores during ${beside.length === answers.length ? "every answer" : names(beside)}.`,
          next: "end them and run again; the ratios hold better than the times",
        }
      : undefined,
    apart.length > 0
      ? {
          text: `The same mechanism differed from itself in ${apart.map(({ host }) => hostTitle(host)).join(", ")}.`,
          next: "do not trust small differences of this run; run again on a quiet machine",
        }
      : undefined,
    warming.length > 0
      ? {
          text: `Still warming when the slices ended: ${names(warming)}.`,
          next: `give it more time: ${run.kind === "lab" ? "clearway lab NAME" : run.command} --time ${run.kind === "lab" ? 60 : Math.min(TIME_S_MAX, commandSeconds(run.durationMs * 1.5))}`,
        }
      : undefined,
  ];
  return [
    ...all.filter((doubt) => doubt !== undefined).slice(0, DOUBTS_MAX),
    ...missing.map(({ why, names }) => ({ text: `Not measured: ${names.join(", ")}.`, next: why })),
  ];
}
