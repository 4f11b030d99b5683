// SPDX-License-Identifier: MIT OR Apache-2.0
import { clearInterval, clock, setInterval } from "../globals.js";
import { check, hzDefault, meterRules } from "./options.js";
import { expectedDroppedFrames } from "./summarize.js";

/** Options of {@link measureFrameDrops}. */
export interface FrameDropsOptions {
  /** Frame rate, in hertz. Default: 60. */
  readonly hz?: number;
}

/** A lag that is longer than a frame. */
export interface FrameDrop {
  /** Start of the lag, in milliseconds since the call. */
  readonly startMs: number;
  readonly lagMs: number;
}

/** The result of {@link measureFrameDrops}. */
export interface FrameDrops<Value> {
  /** The function's return value, or the value of its promise. */
  readonly value: Value;
  readonly hz: number;
  /** The time between two frames, in milliseconds. */
  readonly frameMs: number;
  /** The time from the call to the value, in milliseconds. */
  readonly totalMs: number;
  /** Number of lags: one for each probe, and one that ends with the function. */
  readonly probes: number;
  readonly lagMeanMs: number;
  /** The longest lag, in milliseconds. An event that arrived at its begin waited that long. */
  readonly lagMaxMs: number;
  /** Dropped frames as the meter counts them: the sum of max(0, lag / frame - 1), rounded once. */
  readonly dropped: number;
  /** Dropped frames as the published function counts them: a frame has 1000 / hz whole milliseconds, and a longer lag drops all that it began. */
  readonly droppedAsPublished: number;
  /** The lags that are longer than a frame, in order. */
  readonly drops: readonly FrameDrop[];
  /** All lags, in milliseconds and in order. */
  readonly lagsMs: readonly number[];
  /** One line: "Jank: 59 frames dropped, max lag 1001 ms", or "Smooth: max lag 8 ms, average 2 ms, 564 probes". */
  readonly verdict: string;
}

/** Interval of the probes, in milliseconds. */
const probeMs = 1;

/**
 * Runs a function once, and probes its thread meanwhile with a timer of 1 ms. A lag is the time between two probes; the last one ends when the
 * function settles.
 *
 * Starts no thread, and does not say what caused a lag: {@link measure} does. Waits for nothing but the function. Rejects with the
 * function's own error. Rejects with `RangeError` or `TypeError` for an invalid argument.
 */
export async function measureFrameDrops<Value>(
  fn: () => Value | PromiseLike<Value>,
  options: FrameDropsOptions = {},
): Promise<FrameDrops<Value>> {
  if (typeof fn !== "function") throw new TypeError(`measureFrameDrops() takes a function: fn=${typeof fn}`);
  check(options, { hz: meterRules["hz"]! });
  const lagsMs: number[] = [];
  const beginMs = clock();
  let probedMs = beginMs;
  const probe = (): void => {
    const nowMs = clock();
    lagsMs.push(nowMs - probedMs);
    probedMs = nowMs;
  };
  const timer = setInterval(probe, probeMs);
  try {
    const value = await fn();
    probe();
    return { value, ...frameDropsOf(lagsMs, probedMs - beginMs, options.hz ?? hzDefault) };
  } finally {
    clearInterval(timer);
  }
}

/** Computes the figures of a run. Has no side effects. */
export function frameDropsOf(lagsMs: readonly number[], totalMs: number, hz: number): Omit<FrameDrops<never>, "value"> {
  const frameMs = 1000 / hz;
  const drops: FrameDrop[] = [];
  let [startMs, lagMaxMs, droppedAsPublished] = [0, 0, 0];
  const wholeMs = Math.floor(frameMs);
  // A run of minutes has more lags than a call may have arguments.
  for (const lagMs of lagsMs) {
    if (lagMs > frameMs) drops.push({ startMs, lagMs });
    if (lagMs > wholeMs) droppedAsPublished += Math.ceil(lagMs / wholeMs);
    lagMaxMs = Math.max(lagMaxMs, lagMs);
    startMs += lagMs;
  }
  const probes = lagsMs.length;
  const lagMeanMs = probes === 0 ? 0 : startMs / probes;
  const dropped = expectedDroppedFrames(lagsMs, hz);
  const verdict =
    dropped > 0
      ? `Jank: ${dropped} ${dropped === 1 ? "frame" : "frames"} dropped, max lag ${ms(lagMaxMs)}`
      : `Smooth: max lag ${ms(lagMaxMs)}, average ${ms(lagMeanMs)}, ${probes} ${probes === 1 ? "probe" : "probes"}`;
  const figures = { hz, frameMs, totalMs, probes, lagMeanMs, lagMaxMs, dropped, droppedAsPublished };
  return { ...figures, drops, lagsMs, verdict };
}

/** Formats a time with three significant digits, two below 1 ms. */
const ms = (value: number): string =>
  `${value >= 1000 ? Math.round(value) : Number(value.toPrecision(value >= 1 ? 3 : 2))} ms`;
