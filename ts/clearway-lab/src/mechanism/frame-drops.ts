// SPDX-License-Identifier: MIT OR Apache-2.0
// measureFrameDrops, as published: a timer of 1 ms probes the thread while a function runs. A lag is the time between two probes. A lag of
// several frames drops as many frames.
import { droppedFrames, hitchMsPerSecond } from "../statistics/stalls.js";

/** Interval of the probes, in milliseconds. */
const PROBE_MS = 1;

export interface ProbeTimers {
  nowMs(): number;
  /** Calls `act` every `ms` milliseconds until the returned function is called. */
  every(ms: number, act: () => void): () => void;
}

const realTimers: ProbeTimers = {
  nowMs: () => performance.now(),
  every: (ms, act) => {
    const timer = setInterval(act, ms);
    return () => clearInterval(timer);
  },
};

/** The lags of one run. The last one ends when the function settles. */
export interface ProbedRun {
  totalMs: number;
  lagsMs: number[];
}

/** Runs a function once, and probes its thread meanwhile. Rejects with the function's own error. */
export async function measureFrameDrops<T>(
  run: () => T | PromiseLike<T>,
  timers = realTimers,
): Promise<ProbedRun & { value: T }> {
  const lagsMs: number[] = [];
  const beginMs = timers.nowMs();
  let probedMs = beginMs;
  const probe = () => {
    const nowMs = timers.nowMs();
    lagsMs.push(nowMs - probedMs);
    probedMs = nowMs;
  };
  const stop = timers.every(PROBE_MS, probe);
  try {
    const value = await run();
    probe();
    return { value, totalMs: probedMs - beginMs, lagsMs };
  } finally {
    stop();
  }
}

/** Lags up to this length, in milliseconds, are the timer's own: it probes late by up to one interval on every device. */
const OWN_LAG_MS = 2 * PROBE_MS;

/**
 * Converts a run to the time of another device, which takes `ratio` times as long. The timer's own lags stay, and so does the time between
 * the lags.
 */
export function runThere({ totalMs, lagsMs }: ProbedRun, ratio: number): ProbedRun {
  const there = lagsMs.map((lag) => (lag <= OWN_LAG_MS ? lag : lag * ratio));
  const longer = there.reduce((sum, lag, at) => sum + lag - lagsMs[at]!, 0);
  return { totalMs: totalMs + longer, lagsMs: there };
}

/** The figures of a run, in milliseconds. */
export interface FrameDrops {
  totalMs: number;
  probes: number;
  lagMeanMs: number;
  /** The longest lag. An event that arrived at its begin waited that long. */
  lagMaxMs: number;
  dropped60: number;
  dropped120: number;
  /** Time by which frames are late, in milliseconds per second. */
  hitch60: number;
  hitch120: number;
}

export function frameDropsOf({ totalMs, lagsMs }: ProbedRun): FrameDrops {
  const sum = lagsMs.reduce((total, lag) => total + lag, 0);
  return {
    totalMs,
    probes: lagsMs.length,
    lagMeanMs: lagsMs.length === 0 ? 0 : sum / lagsMs.length,
    // A loop: a run of minutes has more lags than a call may have arguments.
    lagMaxMs: lagsMs.reduce((longest, lag) => Math.max(longest, lag), 0),
    dropped60: droppedFrames(lagsMs, 60),
    dropped120: droppedFrames(lagsMs, 120),
    hitch60: hitchMsPerSecond(lagsMs, totalMs, 60),
    hitch120: hitchMsPerSecond(lagsMs, totalMs, 120),
  };
}
