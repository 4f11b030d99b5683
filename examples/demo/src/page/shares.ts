// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Steps } from "../work/steps.js";
import type { WayId } from "./ways.js";

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
