// SPDX-License-Identifier: MIT OR Apache-2.0
// Times the calls of one way: first until they stop getting faster, then for the asked time.
import { nowMs, turn } from "#lab-host";
import { WarmUpDetector } from "../statistics/warm-up-detector.js";

/** Length of a window of the warm-up, in milliseconds of calls. */
const WINDOW_MS = 20;
/** Time without a gain, in milliseconds of calls, that ends the warm-up: compilers improve code in stages, some 100 ms apart. */
const QUIET_MS = 200;
/**
 * Maximum length of the warm-up, and of the timing with the making of its inputs: a multiple of the measured time, and at least a second.
 * Inputs may take longer to make than their calls, so the timed calls alone are no limit.
 */
const TIMES_MAX = 5;
const MS_MAX = 1000;
/** Minimum length of a sample, in milliseconds. Shorter calls are timed together: reading the clock takes about 0.0001 ms. */
const SAMPLE_MS_MIN = 0.05;

export interface TimedWay {
  /** Returns the input of the next call, or a promise of it. */
  input: () => unknown;
  /** Whether each call needs a new input. Then calls are never timed together. */
  isFresh: boolean;
  call: (input: unknown) => unknown;
}

export interface TimedCalls {
  /** The mean time of a call in each sample, in nanoseconds. */
  ns: number[];
  /** Number of calls per sample. */
  batch: number;
  warmUpMs: number;
  /** Whether the calls had stopped getting faster before they were timed. */
  isWarm: boolean;
  /** Whether the calls were timed for less than the asked time, because making their inputs took too long. */
  isCut: boolean;
}

/** Receives every result, so that the compiler cannot leave out calls whose results are not used. */
export const sink: { last: unknown } = { last: undefined };

/**
 * Calls the way for `timeMs` milliseconds, after a warm-up of at most five times as long, or a second. With the making of inputs, the timed
 * calls take at most that long, too. Rejects with the error of a failed call.
 */
export async function timeCalls(way: TimedWay, timeMs: number, clock = nowMs): Promise<TimedCalls> {
  const msMax = Math.max(timeMs * TIMES_MAX, MS_MAX);
  const { warmUpMs, isWarm, perCallMs } = await warmUpCalls(way, msMax, clock);
  const batch = way.isFresh ? 1 : Math.max(1, Math.ceil(SAMPLE_MS_MIN / Math.max(perCallMs, 1e-6)));
  const ns: number[] = [];
  let spentMs = 0;
  let sinceTurnMs = 0;
  const begin = clock();
  do {
    const ms = await sampleMs(way, batch, clock);
    ns.push((ms * 1e6) / batch);
    spentMs += ms;
    sinceTurnMs += ms;
    if (sinceTurnMs >= WINDOW_MS) {
      await turn();
      sinceTurnMs = 0;
    }
  } while (spentMs < timeMs && clock() - begin < msMax);
  return { ns, batch, warmUpMs, isWarm, isCut: spentMs < timeMs };
}

async function warmUpCalls(way: TimedWay, msMax: number, clock: () => number) {
  const detector = new WarmUpDetector();
  const begin = clock();
  let quietMs = 0;
  for (let windows = 1; ; windows++) {
    let ms = 0;
    let calls = 0;
    do {
      // Doubles the number of calls per reading of the clock, so that a call of a nanosecond does not wait for the clock.
      const batch = way.isFresh ? 1 : Math.max(1, calls);
      ms += await sampleMs(way, batch, clock);
      calls += batch;
    } while (ms < WINDOW_MS && clock() - begin < msMax);
    const before = detector.best;
    detector.isWarmAfter(ms / calls);
    quietMs = detector.best === before ? quietMs + ms : 0;
    const isWarm = quietMs >= QUIET_MS;
    const warmUpMs = clock() - begin;
    // One slow call needs a second one to compare with.
    if (isWarm || (warmUpMs >= msMax && windows > 1)) return { warmUpMs, isWarm, perCallMs: detector.best };
    await turn();
  }
}

/** Returns the time of a number of calls, one after the other, in milliseconds. Making an input is not part of it. */
async function sampleMs({ input, call }: TimedWay, batch: number, clock: () => number): Promise<number> {
  // A shared input may be a promise: every call gets its value, as the call that was verified.
  const value = await input();
  const begin = clock();
  for (let left = batch; left > 0; left--) {
    const result = call(value);
    // Awaiting a plain value would add a microtask to each call.
    sink.last = isThenable(result) ? await result : result;
  }
  return clock() - begin;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
