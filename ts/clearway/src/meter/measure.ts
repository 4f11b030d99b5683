// SPDX-License-Identifier: MIT OR Apache-2.0
import { clearInterval, clock, setInterval, wallMs } from "../globals.js";
import { formatReport } from "./format.js";
import { check, hzDefault, type MeterOptions, meterRules, type Rules } from "./options.js";
import type { StallReport } from "./report.js";
import { expectedDroppedFrames } from "./summarize.js";
import { start } from "./watch.js";

/** Options of {@link measure}. */
export interface MeasureOptions extends MeterOptions {}

/** The result of {@link measure}: the function's value and the report of the run. */
export interface Measurement<Value> {
  /** The function's return value, or the value of its promise. */
  readonly value: Value;
  /**
   * The time from the call to the value, in milliseconds. `report.durationMs` is the same time, less the time in which the page was hidden.
   */
  readonly runtimeMs: number;
  readonly report: StallReport;
  /** Returns the report as text, like {@link formatReport}. */
  toString(): string;
}

/**
 * Runs a function once and reports how it stalled this thread.
 *
 * A function that blocks for 100 ms is one stall of 100 ms. For an async function, the meter finds stalls until its promise settles.
 * The report covers everything on this thread, including other work that runs at the same time.
 *
 * Before the run, the call waits until the meter has started a thread or worker. That takes about 20 ms the first time. After the run, the
 * call waits some tens of milliseconds for reports that arrive late, such as garbage collections, which explain the stalls. The measured
 * time includes neither wait.
 *
 * If the function throws, rejects with the function's own error. Rejects with `RangeError` or `TypeError` for an invalid option.
 */
export async function measure<Value>(
  fn: () => Value | PromiseLike<Value>,
  options: MeasureOptions = {},
): Promise<Measurement<Value>> {
  checkRun(fn, options, meterRules);
  const { recorder, observer } = start(options, { brief: true });
  try {
    await observer.ready();
    const beginMs = observer.begin();
    recorder.begin(beginMs, wallMs());
    const returned = fn();
    // A plain value ends the run at once. An `await` would add the rest of the tick to the run.
    const isSync = !isPromiseLike(returned);
    const blockedUntilMs = isSync ? undefined : observer.blocked();
    const value = isSync ? returned : await returned;
    const endMs = observer.end(isSync);
    recorder.call(beginMs, blockedUntilMs ?? endMs, options.label ?? (fn.name || "the measured function"));
    await observer.settle();
    recorder.explain(endMs);
    const report = recorder.report(endMs);
    return { value, runtimeMs: endMs - beginMs, report, toString: () => formatReport(report) };
  } finally {
    observer.stop();
  }
}

function checkRun(fn: unknown, options: object, rules: Rules): void {
  if (typeof fn !== "function") throw new TypeError(`fn must be a function: fn=${typeof fn}`);
  check(options, rules);
}

function isPromiseLike<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return Object(value) === value && "then" in (value as object);
}

/** Options of {@link measureFrameDrops}. */
export interface FrameDropsOptions {
  /** Frame rate, in hertz. Default: 60. */
  readonly hz?: number | undefined;
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
  checkRun(fn, options, { hz: meterRules["hz"]! });
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
