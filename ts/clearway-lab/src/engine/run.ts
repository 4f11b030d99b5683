// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures comparisons until they are decided or the time is over.
import { isBrowser } from "../browser/open.js";
import type { Arm } from "../protocol/arm.js";
import type { Comparison } from "./comparison.js";
import { otherShare, type Reading } from "./load.js";
import type { ArmHost } from "./open-arm.js";
import { measurePair, type Pair, WARM_CALLS, warmUp } from "./pair.js";
import { nextSession, PAIRS_MAX, PAIRS_MAX_NAMED, type Progress, pairsNeeded, type Session } from "./plan.js";

/** What a run needs from the machine. Tests replace it. */
export interface Bench {
  open(host: ArmHost, arm: string, cores: Comparison["cores"]): Promise<Arm>;
  nowMs(): number;
  sleep(ms: number): Promise<unknown>;
  random(): number;
  /** Reads the processor times; undefined where the machine does not tell. */
  load?(): Reading | undefined;
}

/** The measured state of a comparison. */
export interface Measured extends Progress {
  readonly comparison: Comparison;
  readonly pairs: Pair[];
  /** The mean share of the arms' cores that other programs used during the pairs, from 0 to 1. */
  otherShare?: number;
  /** The mean length of a pair of its session, in milliseconds. */
  pairMs: number;
}

interface ComparisonSession extends Session {
  readonly comparisons: readonly Measured[];
}

/** The idle arm sleeps between two slices; this gives its threads the time to. */
const BETWEEN_SLICES_MS = 1;
/** The most processor time of the call with which an arm starts its threads, in milliseconds. */
const START_CPU_MS = 1000;
/** The guess of a session's first pair, in milliseconds. */
const PAIR_MS = 4000;

export interface RunOptions {
  /** The time of the run, in milliseconds. */
  budgetMs: number;
  /** Whether the user named the comparisons: each may then use the whole time. */
  isNamed?: boolean;
  /** The limits of comparisons by name. They are measured until their intervals leave the limits out. */
  limits?: Readonly<Record<string, number>>;
  signal?: AbortSignal;
  onPair?(session: string, decided: number, leftMs: number): void;
}

/** Measures the comparisons. Those with the same arms share each pair of processes. Never rejects for a failing arm. */
export async function measureAll(
  comparisons: readonly Comparison[],
  bench: Bench,
  { budgetMs, isNamed = false, limits = {}, signal, onPair }: RunOptions,
): Promise<Measured[]> {
  const pairsMax = isNamed ? PAIRS_MAX_NAMED : PAIRS_MAX;
  const all = comparisons.map(
    (comparison): Measured => ({
      ...{ comparison, pairsMin: comparison.slicing.pairsMin, pairsMax, limit: limits[comparison.name] },
      ...{ logs: [], pairs: [], pairMs: PAIR_MS },
    }),
  );
  const sessions = sessionsOf(all);
  const end = bench.nowMs() + budgetMs;
  const isInterrupted = (): boolean => signal?.aborted === true;
  while (!isInterrupted()) {
    const leftMs = end - bench.nowMs();
    const session = nextSession(sessions, leftMs);
    if (session === undefined) break;
    onPair?.(session.comparisons[0]!.comparison.name, all.filter((each) => pairsNeeded(each) === 0).length, leftMs);
    const from = bench.nowMs();
    const undecided = session.comparisons.filter((each) => pairsNeeded(each) > 0);
    try {
      await (undecided[0]!.comparison.isFresh
        ? freshPair(undecided[0]!, bench, signal)
        : pairOf(undecided, bench, signal));
    } catch (error) {
      if (isInterrupted()) break;
      for (const each of undecided) each.failed = (error as Error).message;
    }
    session.pairMs = bench.nowMs() - from;
    for (const each of session.comparisons) each.pairMs = session.pairMs;
  }
  return all;
}

function sessionsOf(all: readonly Measured[]): ComparisonSession[] {
  const sessions = new Map<string, Measured[]>();
  for (const each of all) {
    const { host, subject, reference, isFresh = false } = each.comparison;
    const key = `${host} ${subject} ${reference} ${isFresh}`;
    sessions.set(key, [...(sessions.get(key) ?? []), each]);
  }
  return [...sessions.values()].map((comparisons) => ({ comparisons, pairMs: PAIR_MS }));
}

/** Starts both arms, measures one pair for each comparison, and ends them. */
async function pairOf(all: readonly Measured[], bench: Bench, signal: AbortSignal | undefined): Promise<void> {
  const { host, subject, reference } = all[0]!.comparison;
  const arms = { subject: await bench.open(host, subject, "free"), reference: undefined as Arm | undefined };
  try {
    arms.reference = await bench.open(host, reference, "free");
    // Threads start while the arms have all cores: what a library decides at its start from their number holds for its users.
    const { work: firstWork, warm: first } = all[0]!.comparison;
    for (const arm of [arms.subject, arms.reference]) await arm.warm(first?.work ?? firstWork, 1, START_CPU_MS);
    for (const measured of all) {
      const { work, warm, cores, slicing } = measured.comparison;
      const { subject: one, reference: other } = arms;
      for (const arm of [one, other]) {
        arm.pin(cores);
        await warmUp(arm, warm ?? { work, calls: WARM_CALLS });
        // The warm-up may have started threads, which have the cores of their starter.
        arm.pin(cores);
      }
      const before = bench.load?.();
      const pair = await measurePair(
        async (side) => {
          signal?.throwIfAborted();
          await bench.sleep(BETWEEN_SLICES_MS);
          return (side === "subject" ? one : other).slice(work, slicing.ms, slicing.runs);
        },
        slicing,
        () => bench.random(),
      );
      // A page is not pinned to the cores that are read.
      keep(measured, pair, isBrowser(host) ? undefined : otherShare(before, bench.load?.()));
    }
  } finally {
    await Promise.all([arms.subject.end(), arms.reference?.end()]);
  }
}

/** Measures a pair whose slices have an arm of their own each. */
async function freshPair(measured: Measured, bench: Bench, signal: AbortSignal | undefined): Promise<void> {
  const { host, work, cores, slicing, ...arms } = measured.comparison;
  const pair = await measurePair(
    async (side) => {
      signal?.throwIfAborted();
      const arm = await bench.open(host, arms[side], cores);
      try {
        return await arm.slice(work, 0, 1);
      } finally {
        await arm.end();
      }
    },
    slicing,
    () => bench.random(),
  );
  keep(measured, pair, undefined);
}

function keep(measured: Measured, pair: Pair, share: number | undefined): void {
  const { pairs, logs, otherShare: before } = measured;
  if (share !== undefined) measured.otherShare = ((before ?? 0) * pairs.length + share) / (pairs.length + 1);
  pairs.push(pair);
  logs.push(pair.log);
}
