// SPDX-License-Identifier: MIT OR Apache-2.0
// What a user should do on this machine, from the answers. An open answer advises nothing.
import type { Answer } from "../../engine/answer.js";
import { timeText } from "./words.js";

type Decided = Answer & { subjectNs: number; peerNs: number };
type Rule = (answer: Decided) => string | undefined;

const times = (answer: Decided): string => `${timeText(answer.subjectNs)} instead of ${timeText(answer.peerNs)}`;

const isFaster = ({ verdict }: Answer): boolean => verdict === "faster";
const isSlower = ({ verdict }: Answer): boolean => verdict === "slower";

/** One line for each answer that has a consequence, in the order of their weight. */
const RULES: readonly [name: string, rule: Rule][] = [
  [
    "records-node",
    (answer) =>
      isFaster(answer)
        ? `Many rows from a worker: return a table. A million rows block Node's main thread for ${times(answer)}.`
        : undefined,
  ],
  [
    "records-chromium",
    (answer) => (isFaster(answer) ? `The same in a page: ${times(answer)} in Chromium.` : undefined),
  ],
  [
    "call-two-cores",
    ({ subjectNs }) =>
      `Work under ${timeText(Number(subjectNs.toPrecision(1)))}: stay on the calling thread. A call to a warm worker takes that long by itself.`,
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
      isSlower(answer)
        ? undefined
        : `Small computations on the JVM: the adaptive executor keeps them on the calling thread, ${timeText(answer.subjectNs)} for a hundred.`,
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

/** Returns at most six lines. */
export function adviceOf(answers: readonly Answer[]): string[] {
  const lines = RULES.flatMap(([name, rule]) => {
    const answer = answers.find((each) => each.name === name);
    if (answer?.subjectNs === undefined || answer.peerNs === undefined || answer.verdict === "open") return [];
    return rule(answer as Decided) ?? [];
  });
  return lines.slice(0, 6);
}
