// SPDX-License-Identifier: MIT OR Apache-2.0
// What a user should do on this machine, from the answers. An open answer advises nothing.
import type { Answer, LabResults } from "../../engine/answer.js";
import { pairText, ratioText, shownAnswers, timeText } from "./words.js";

type Decided = Answer & { subjectNs: number; peerNs: number };
type Rule = (answer: Decided) => string | undefined;

const times = ({ subjectNs, peerNs }: Decided): string => pairText(subjectNs, peerNs).join(" instead of ");

const isFaster = ({ verdict }: Answer): boolean => verdict === "faster";
const isSlower = ({ verdict }: Answer): boolean => verdict === "slower";

/** One line for each answer that has a consequence, in the order of their weight. */
const RULES: readonly [name: string, rule: Rule][] = [
  [
    "records-node",
    (answer) =>
      isFaster(answer)
        ? `Many rows from a worker: return a table of clearway/records. A million rows block Node's main thread for ${times(answer)}.`
        : undefined,
  ],
  [
    "records-chromium",
    (answer) =>
      isFaster(answer)
        ? `In a page, a million rows in a table of clearway/records block Chromium's main thread for ${times(answer)}.`
        : undefined,
  ],
  [
    "slices-node",
    (answer) =>
      isFaster(answer)
        ? `Plain objects: return them from the worker as they are. They come in pieces, so a million block Node's main thread for ${times(answer)}.`
        : undefined,
  ],
  [
    "call-two-cores",
    // The bare worker's time is that of waking a worker. Clearway's own holds only for calls one after another.
    ({ subjectNs, peerNs }) =>
      `Work under ${timeText(Number(peerNs.toPrecision(1)))}: stay on the calling thread. Waking a worker takes that long; a call to one that is still awake takes ${timeText(subjectNs)}.`,
  ],
  [
    "executor-node-lists",
    (answer) =>
      isSlower(answer)
        ? `Many small computations: call them directly, or send them to a worker as one call. One call for each takes ${times(answer)} for a hundred.`
        : undefined,
  ],
  [
    "executor-node-storage",
    (answer) =>
      isSlower(answer)
        ? `Blocking waits: Piscina is quicker here, ${timeText(answer.peerNs)} instead of ${timeText(answer.subjectNs)} for a hundred.`
        : `Blocking waits: a pool with four workers per core ends a hundred in ${timeText(answer.subjectNs)}.`,
  ],
  [
    "executor-jvm-lists",
    (answer) =>
      isFaster(answer)
        ? `Small computations on the JVM: the adaptive executor spreads a hundred over the cores, ${times(answer)} on the calling thread.`
        : undefined,
  ],
  [
    "codec",
    (answer) =>
      isFaster(answer)
        ? `Messages to another process: the standard codec takes ${times(answer)} with msgpackr.`
        : undefined,
  ],
  [
    "stream",
    (answer) => `A live stream: an event reaches the main thread ${timeText(answer.subjectNs)} after it was due.`,
  ],
];

/** What a report opens with. */
export function openingOf(results: LabResults): { title: string; lines: string[] } {
  const { run, answers } = results;
  if (run.kind === "lab") return { title: "What to do on this machine", lines: adviceOf(answers) };
  return {
    title: run.title ?? "",
    lines: run.kind === "bench" ? waysAdvice(results) : buildsAdvice(shownAnswers(results)),
  };
}

/** What a report says if nothing is advised. */
export function withoutAdvice({ run, answers, controls }: LabResults): string {
  if (answers.some(({ verdict }) => verdict !== "open")) return "Nothing that was measured asks for a change.";
  if (run.interrupted) return "The run was interrupted before it could say what to do.";
  const all = answers.length > 0 ? answers : controls;
  if (all.length > 0 && all.every(({ failed }) => failed !== undefined)) return "Nothing could be measured.";
  return "The time was too short to say what to do.";
}

/** A call that blocks the thread for longer costs a frame at 60 Hz. */
const FRAME_NS = 1e9 / 60;

/** One line for each input of a scenario: which way to choose. */
function waysAdvice({ answers, controls }: LabResults): string[] {
  const measured = answers.filter(({ interval }) => interval !== undefined);
  const calls = measured.filter(({ verb }) => verb === undefined);
  if (answers.length === 0) return controls.flatMap(loneWay);
  const inputs = new Map<string, Answer[]>();
  for (const each of calls) inputs.set(each.input ?? "", [...(inputs.get(each.input ?? "") ?? []), each]);
  return [...inputs].map(([input, ways]) => {
    const stallOf = (way: Answer) => measured.find(({ name }) => name === `${way.name}/stall`);
    const reference = ways[0]!.peer;
    const start = input === "" ? "Use" : `Input ${input}: use`;
    const blockedNs = Math.max(0, ...ways.map((way) => stallOf(way)?.peerNs ?? 0));
    const free = ways.filter((way) => (stallOf(way)?.subjectNs ?? blockedNs) < Math.min(FRAME_NS, blockedNs / 2));
    const least = (all: Answer[]) => [...all].sort((a, b) => a.interval!.ratio - b.interval!.ratio)[0];
    const takes = (way: Answer) =>
      way.verdict === "no difference"
        ? `takes as long as ${reference}`
        : `takes ${ratioText(way.interval!.ratio)} times as long`;
    const freest = blockedNs > FRAME_NS ? least(free) : undefined;
    if (freest !== undefined)
      return `${start} ${freest.way}. It blocks the main thread for ${timeText(stallOf(freest)!.subjectNs!)}, not ${timeText(blockedNs)}, and ${takes(freest)}.`;
    const fastest = least(ways.filter(isFaster));
    if (fastest !== undefined)
      return `${start} ${fastest.way}. It is ${ratioText(1 / fastest.interval!.ratio)} times as fast as ${reference}: ${times(fastest as Decided)}.`;
    const blocks = blockedNs > FRAME_NS ? `no way blocks the main thread for much less` : `it costs no frame`;
    return `${start} ${reference}: ${blocks}, and no other way is measurably faster.`;
  });
}

function loneWay({ subjectNs, way, verb }: Answer): string[] {
  if (subjectNs === undefined || verb !== undefined) return [];
  return [`${way} takes ${timeText(subjectNs)}. It is the only way that was measured, so nothing is compared.`];
}

/** How many answers of two builds differ. */
function buildsAdvice(answers: readonly Answer[]): string[] {
  const count = (verdict: Answer["verdict"]) => answers.filter((each) => each.verdict === verdict).length;
  return [
    `${count("slower")} slower, ${count("faster")} faster, ${count("no difference")} without a difference, ${count("open")} open.`,
  ];
}

/** Returns at most six lines. */
export function adviceOf(answers: readonly Answer[]): string[] {
  const lines = RULES.flatMap(([name, rule]) => {
    const answer = answers.find((each) => each.name === name);
    if (answer?.subjectNs === undefined || answer.peerNs === undefined || answer.verdict === "open") return [];
    return rule(answer as Decided) ?? [];
  });
  return lines.slice(0, 6);
}
