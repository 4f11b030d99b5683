// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures comparisons until they are decided or the time is over.
import { isBrowser } from "../browser/open.js";
import { otherShare, type Reading } from "../machine/cores.js";
import { type Arm, WARM_ELAPSED } from "../protocol/arm.js";
import type { Comparison } from "./comparison.js";
import type { ArmHost } from "./open-arm.js";
import { measurePair, type Pair, TimeOver, WARM_CALLS, warmUp } from "./pair.js";
import { nextPair, PAIRS_MAX, PAIRS_MAX_NAMED, type Progress, pairsNeeded, partMs, type Session } from "./plan.js";

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
  /** The expected length of a further pair of it alone, in milliseconds. */
  pairMs: number;
}

/** The idle arm sleeps between two slices; this gives its threads the time to. */
const BETWEEN_SLICES_MS = 1;
/** The most processor time of the call with which an arm starts its threads, in milliseconds. */
const START_CPU_MS = 1000;

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

/**
 * Measures the comparisons. Those with the same arms share each pair of processes. Never rejects for a failing arm. Ends at most one call
 * after its time.
 */
export async function measureAll(
  comparisons: readonly Comparison[],
  bench: Bench,
  { budgetMs, isNamed = false, limits = {}, signal, onPair }: RunOptions,
): Promise<Measured[]> {
  const pairsMax = isNamed ? PAIRS_MAX_NAMED : PAIRS_MAX;
  const all = comparisons.map(
    (comparison): Measured => ({
      ...{ comparison, pairsMin: comparison.slicing.pairsMin, pairsMax, limit: limits[comparison.name] },
      ...{ logs: [], pairs: [], pairMs: 0 },
    }),
  );
  const sessions = sessionsOf(all);
  const end = bench.nowMs() + budgetMs;
  const isInterrupted = (): boolean => signal?.aborted === true;
  const timed = untilEnd(bench, end, signal);
  while (!isInterrupted()) {
    const leftMs = end - bench.nowMs();
    const step = nextPair(sessions, leftMs);
    if (step === undefined) break;
    const { session, comparisons: chosen } = step;
    onPair?.(chosen[0]!.comparison.name, all.filter((each) => pairsNeeded(each) === 0).length, leftMs);
    const from = bench.nowMs();
    try {
      await (chosen[0]!.comparison.isFresh ? freshPair(chosen[0]!, timed) : pairOf(chosen, timed));
      session.startMs = chosen.reduce((ms, { ownMs = 0 }) => ms - ownMs, bench.nowMs() - from);
    } catch (error) {
      if (isInterrupted()) break;
      if (error instanceof TimeOver) {
        for (const each of chosen) each.ownMs ??= bench.nowMs() - from;
        break;
      }
      for (const each of chosen) each.failed = (error as Error).message;
    }
  }
  for (const { comparisons, startMs = 0 } of sessions)
    for (const each of comparisons) each.pairMs = startMs + partMs(sessions, each);
  return all;
}

/** Returns a bench whose arms begin nothing after the end of the run, or after an interruption: they throw TimeOver, or the signal's reason. */
function untilEnd(bench: Bench, end: number, signal: AbortSignal | undefined): Bench {
  const left = (): number => {
    signal?.throwIfAborted();
    const ms = end - bench.nowMs();
    if (ms <= 0) throw new TimeOver();
    return ms;
  };
  return {
    ...bench,
    open: async (...of) => {
      left();
      const arm = await bench.open(...of);
      return {
        warm: async (work, calls, cpuMs) => {
          const most = Math.min(cpuMs, left() / WARM_ELAPSED);
          const costs = await arm.warm(work, calls, most);
          // A warm-up that the end has cut short is none.
          if (most < cpuMs && costs.calls < calls) throw new TimeOver();
          return costs;
        },
        slice: async (...of) => {
          left();
          return arm.slice(...of);
        },
        pin: (cores) => arm.pin(cores),
        end: () => arm.end(),
      };
    },
  };
}

function sessionsOf(all: readonly Measured[]): Session<Measured>[] {
  const sessions = new Map<string, Measured[]>();
  for (const each of all) {
    const { host, subject, reference, isFresh = false } = each.comparison;
    const key = `${host} ${subject} ${reference} ${isFresh}`;
    sessions.set(key, [...(sessions.get(key) ?? []), each]);
  }
  // Stalls come first, so that a short run has at least these.
  const isStall = ({ comparison }: Measured): number => Number(comparison.verb === "blocks");
  return [...sessions.values()].map((of) => ({ comparisons: of.sort((a, b) => isStall(b) - isStall(a)) }));
}

/** Starts both arms, measures one pair for each comparison, and ends them. */
async function pairOf(all: readonly Measured[], bench: Bench): Promise<void> {
  const { host, subject, reference } = all[0]!.comparison;
  const arms = { subject: await bench.open(host, subject, "free"), reference: undefined as Arm | undefined };
  try {
    arms.reference = await bench.open(host, reference, "free");
    // Threads start while the arms have all cores: what a library decides at its start from their number holds for its users.
    const { work: firstWork, warm: first } = all[0]!.comparison;
    for (const arm of [arms.subject, arms.reference]) await arm.warm(first?.work ?? firstWork, 1, START_CPU_MS);
    for (const measured of all) {
      const from = bench.nowMs();
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
          await bench.sleep(BETWEEN_SLICES_MS);
          return (side === "subject" ? one : other).slice(work, slicing.ms, slicing.runs);
        },
        slicing,
        () => bench.random(),
      );
      // A page is not pinned to the cores that are read.
      keep(measured, pair, isBrowser(host) ? undefined : otherShare(before, bench.load?.()));
      measured.ownMs = bench.nowMs() - from;
    }
  } finally {
    await Promise.all([arms.subject.end(), arms.reference?.end()]);
  }
}

/** Measures a pair whose slices have an arm of their own each. */
async function freshPair(measured: Measured, bench: Bench): Promise<void> {
  const from = bench.nowMs();
  const { host, work, cores, slicing, ...arms } = measured.comparison;
  const pair = await measurePair(
    async (side) => {
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
  measured.ownMs = bench.nowMs() - from;
}

function keep(measured: Measured, pair: Pair, share: number | undefined): void {
  const { pairs, logs, otherShare: before } = measured;
  if (share !== undefined) measured.otherShare = ((before ?? 0) * pairs.length + share) / (pairs.length + 1);
  pairs.push(pair);
  logs.push(pair.log);
}
