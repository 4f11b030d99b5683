// SPDX-License-Identifier: MIT OR Apache-2.0
// The results of a run: answers as data. `results.json` has them; docs/lab/method.md describes the format.
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import type { Comparison } from "./comparison.js";
import { type Interval, intervalOf, type LimitVerdict, limitVerdictOf, quantile, type Verdict } from "./estimate.js";
import { furtherMs, verdictNow } from "./plan.js";
import type { Measured } from "./run.js";

/** The version of `results.json` with answers. Version 1 has the cells of scenarios. */
export const ANSWERS_VERSION = 2;

export interface Answer
  extends Pick<Comparison, "name" | "host" | "thing" | "peer" | "verb" | "setUp" | "way" | "input" | "command"> {
  verdict: Verdict;
  /** The ratio subject / peer with its interval. Absent before the least number of pairs. */
  interval?: Interval;
  /** The undisturbed cost of each, in nanoseconds: the median over pairs of the median slice. Absent without a pair. */
  subjectNs?: number;
  peerNs?: number;
  /** The ratio of each pair of processes, in the order of measurement. */
  pairs: number[];
  /** The costs of each pair in nanoseconds, the subject's first. */
  costsNs: [subject: number, peer: number][];
  /** The ratio that it must not exceed, and whether it does. Only in a run with limits. */
  limit?: { ratio: number; verdict: LimitVerdict };
  /** Why it was not measured. */
  failed?: string;
  /** In how many pairs the ratio still moved at the end. */
  stillWarming?: number;
  /** The share of the cores that other programs used, from 0 to 1. */
  otherShare?: number;
  /** The further time in milliseconds that would decide it, if up to sixty pairs would. */
  furtherMs?: number;
}

export interface RunFacts {
  /** The command that measured: the lab's own questions, a user's scenario, or two builds. */
  kind: "lab" | "bench" | "compare";
  /** The question of a user's scenario, or the two builds. */
  title?: string;
  startedAt: string;
  durationMs: number;
  seed: number;
  interrupted: boolean;
  command: string;
}

export interface LabResults {
  version: typeof ANSWERS_VERSION;
  run: RunFacts;
  answers: Answer[];
  /** The same mechanism twice, one for each host. */
  controls: Answer[];
  /** What this machine lacks, and which questions it leaves out. */
  missing: { why: string; names: string[] }[];
  machine: MachineFacts;
  build: BuildFacts;
}

export function answerOf(measured: Measured): Answer {
  const { comparison, logs, pairs, failed, otherShare, pairMs, limit } = measured;
  const { name, host, thing, peer, verb, setUp, way, input, command } = comparison;
  const verdict = failed === undefined ? verdictNow(measured, true) : "open";
  const warming = pairs.filter(({ stillWarming }) => stillWarming).length;
  const further = verdict === "open" && failed === undefined ? furtherMs(measured, pairMs) : undefined;
  const digits = (value: number): number => Number(value.toPrecision(4));
  const interval = logs.length < measured.pairsMin ? undefined : intervalOf(logs);
  return {
    ...{ name, host, thing, peer, ...(verb && { verb }), setUp, verdict },
    ...{ ...(way !== undefined && { way }), ...(input !== undefined && { input }), ...(command && { command }) },
    ...(interval && {
      interval: { ratio: digits(interval.ratio), low: digits(interval.low), high: digits(interval.high) },
    }),
    ...(pairs.length > 0 && {
      subjectNs: digits(
        quantile(
          pairs.map(({ subjectNs }) => subjectNs),
          0.5,
        ),
      ),
      peerNs: digits(
        quantile(
          pairs.map(({ referenceNs }) => referenceNs),
          0.5,
        ),
      ),
    }),
    ...(limit !== undefined && {
      limit: { ratio: limit, verdict: interval === undefined ? "open" : limitVerdictOf(interval, limit) },
    }),
    pairs: logs.map((log) => digits(Math.exp(log))),
    costsNs: pairs.map(({ subjectNs, referenceNs }) => [digits(subjectNs), digits(referenceNs)]),
    ...(failed !== undefined && { failed }),
    ...(warming > 0 && { stillWarming: warming }),
    ...(otherShare !== undefined && { otherShare: Number(otherShare.toFixed(3)) }),
    ...(further !== undefined && { furtherMs: Math.round(further) }),
  };
}
