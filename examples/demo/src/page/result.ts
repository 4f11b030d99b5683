// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Measurement, Stall } from "clearway/meter";
import type { Steps } from "../work/steps.js";
import type { JobId } from "./jobs.js";
import type { WayId } from "./ways.js";

/** The meter's figures of one run, as the page shows them. */
export interface Result {
  job: JobId;
  way: WayId;
  runtimeMs: number;
  /** Longest stall in milliseconds. It is 0 if no stall was as long as `floorMs`. */
  longestStallMs: number;
  floorMs: number;
  droppedFrames: number;
  framesEstimated: boolean;
  hitchMsPerSecond: number;
  verdict: "good" | "warning" | "critical";
  cause: string;
  /** What the total consists of, the largest share first. */
  shares: readonly Share[];
}

export function resultOf(job: JobId, way: WayId, { value, runtimeMs, report }: Measurement<Ran>): Result {
  return {
    job,
    way,
    runtimeMs,
    longestStallMs: report.ownLongestMs,
    floorMs: report.floorMs,
    droppedFrames: report.frames.dropped,
    framesEstimated: report.frames.estimated,
    hitchMsPerSecond: report.hitch.msPerSecond,
    verdict: verdictOf(report, runtimeMs),
    cause: causeOf(report),
    shares: sharesOf(way, runtimeMs, value),
  };
}

/** Rates a run by its own stalls: a way is not responsible for the frames that the machine cost. */
function verdictOf({ stalls, hitch }: Measurement<unknown>["report"], runtimeMs: number): Result["verdict"] {
  if (stalls.every(({ cause }) => cause !== "machine")) return hitch.verdicts.strict;
  const hitchMs = stalls.reduce((sum, stall) => sum + Math.max(0, ownMs(stall) - frameMs), 0);
  const msPerSecond = (1000 * hitchMs) / runtimeMs;
  // The limits of docs/meter.md.
  return msPerSecond <= 5 ? "good" : msPerSecond <= 10 ? "warning" : "critical";
}

const frameMs = 1000 / 60;

/** The part of a stall for which the page is responsible. */
const ownMs = ({ cause, lengthMs, machineMs }: Stall): number =>
  cause === "machine" ? lengthMs - machineMs : lengthMs;

function causeOf({ stalls, floorMs, longestMs }: Measurement<unknown>["report"]): string {
  const [first, ...rest] = stalls.filter((stall) => ownMs(stall) >= floorMs);
  if (!first)
    return longestMs > 0
      ? `No stall of its own of ${floorMs} ms or more; the machine caused one of ${ms(longestMs)}.`
      : `No stall of ${floorMs} ms or more.`;
  const longest = rest.reduce((longest, stall) => (ownMs(stall) > ownMs(longest) ? stall : longest), first);
  const beside = longestMs > longest.lengthMs ? ` The machine caused a longer one of ${ms(longestMs)}.` : "";
  return `${heldBy[longest.cause]}: ${longest.because}.${beside}`;
}

const heldBy = {
  app: "Held by the page",
  gc: "Held by garbage collection",
  machine: "Held by the machine",
  unknown: "Cause not known",
};

/** Returns a time with its unit. The space does not break. */
export const ms = (value: number) =>
  value >= 1000 ? `${(value / 1000).toFixed(2)}\u00a0s` : `${value.toFixed(value < 10 ? 1 : 0)}\u00a0ms`;

export const stallText = (result: Result) =>
  result.longestStallMs > 0 ? ms(result.longestStallMs) : `under ${result.floorMs} ms`;

export const framesText = (result: Result) => `${result.droppedFrames}${result.framesEstimated ? " (est.)" : ""}`;

export const hitchText = (result: Result) =>
  `${result.hitchMsPerSecond.toFixed(result.hitchMsPerSecond < 10 ? 1 : 0)} ms/s`;

/** Returns the largest share of the total, for the table. */
export const mostText = ({ shares: [most] }: Result) => (most ? `${percent(most.part)} ${most.name}` : "");

/** Returns a sentence that says what the total consists of. */
export function totalText({ shares }: Result): string {
  const [most, ...others] = shares.filter(({ ms }) => ms >= leastShareMs);
  if (!most) return "";
  const rest = others.map((share) => `${share.name} ${ms(share.ms)}`);
  return `${percent(most.part)} of the total was ${most.name}: ${ms(most.ms)}.${rest.length > 0 ? ` The rest: ${rest.join(", ")}.` : ""}`;
}

/** A shorter share is not named, in milliseconds. */
const leastShareMs = 1;

/**
 * Returns how many times longer this way blocked the thread than Clearway did. If all of Clearway's stalls were shorter than `floorMs`,
 * `floorMs` replaces them, and the ratio is a lower bound.
 */
export function againstClearway(
  result: Result,
  clearway: Result | undefined,
): { ratio: number; atLeast: boolean } | undefined {
  if (!clearway || result.way === "clearway") return undefined;
  const measured = clearway.longestStallMs > 0;
  return {
    ratio: Math.max(result.longestStallMs, result.floorMs) / (measured ? clearway.longestStallMs : clearway.floorMs),
    atLeast: !measured,
  };
}

/** What a job says of one run: the steps of its work, measured where it ran, and the time in which the page showed the result. */
export interface Ran {
  steps: Steps;
  showMs: number;
}

/** A share of a run's total. */
export interface Share {
  name: string;
  ms: number;
  /** The part of the total, from 0 to 1. */
  part: number;
}

const showing = "showing the result";
/** What is left of a total. In a worker, this is everything between the threads; on the main thread, its other work. */
const restOf = (way: WayId) => (way === "main-thread" ? "waiting for the main thread" : "handing over");

/**
 * Splits a run's total into shares, the largest first. Compares no two clocks: the worker and the page measure durations, and the rest of
 * the total is the time between the threads. The clocks have a limited resolution, so that the rest is never below 0.
 */
export function sharesOf(way: WayId, totalMs: number, { steps, showMs }: Ran): Share[] {
  const named = Object.entries(steps);
  const restMs = Math.max(0, totalMs - showMs - named.reduce((sum, [, ms]) => sum + ms, 0));
  return [...named, [showing, showMs] as const, [restOf(way), restMs] as const]
    .map(([name, ms]) => ({ name, ms, part: totalMs > 0 ? Math.min(1, ms / totalMs) : 0 }))
    .sort((a, b) => b.ms - a.ms);
}

export const percent = (part: number) =>
  part > 0 && part < 0.005 ? "under 1\u00a0%" : `${Math.round(part * 100)}\u00a0%`;
