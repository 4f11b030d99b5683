// SPDX-License-Identifier: MIT OR Apache-2.0
// The warm-up of measured code, and the step of the clock that measures it.

/** Length of a window, in milliseconds: several calls of the slowest mechanism. Quick measurements use shorter windows. */
const WINDOW_MS = 20;

export interface WarmUp {
  /** Time from the first call to the end of the last window, in milliseconds. */
  ms: number;
  /** Mean time of a call in the fastest window, in milliseconds, exact to 5 %. */
  perCallMs: number;
  /** Whether the calls stopped getting faster before `msMax` was over. */
  warm: boolean;
}

/**
 * Repeats calls until they stop getting faster, or for `msMax` milliseconds. Runs at least one window of `windowMs`. `clock` returns milliseconds. Rejects if a
 * call rejects.
 */
export async function warmUp(
  call: () => Promise<unknown>,
  msMax: number,
  clock: () => number,
  windowMs = WINDOW_MS,
): Promise<WarmUp> {
  const detector = new WarmUpDetector();
  const begin = clock();
  let windowBegin = begin;
  for (;;) {
    let calls = 0;
    let now: number;
    do {
      await call();
      calls++;
      now = clock();
    } while (now - windowBegin < windowMs);
    const warm = detector.isWarmAfter((now - windowBegin) / calls);
    if (warm || now - begin >= msMax) return { ms: now - begin, perCallMs: detector.best, warm };
    windowBegin = now;
  }
}

/** Returns the smallest step between clock readings, in microseconds: the resolution of the samples. */
export function clockStepUs(nowMs: () => number, readings = 200): number {
  let smallest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < readings; round++) {
    const begin = nowMs();
    let next = begin;
    while (next === begin) next = nowMs();
    smallest = Math.min(smallest, (next - begin) * 1000);
  }
  return Number(smallest.toPrecision(3));
}

/** Minimum relative gain by which a window counts as faster. Windows vary by less than that by chance. */
const GAIN_MIN = 0.05;
/**
 * Number of successive windows without a gain that end the warm-up. Compilers and adaptive mechanisms improve in stages, some 100 ms apart.
 */
export const WINDOWS_WITHOUT_GAIN = 10;

/** Decides from successive windows of calls whether a mechanism has reached its full speed. Slow windows count as no gain. */
export class WarmUpDetector {
  #best = Number.POSITIVE_INFINITY;
  #withoutGain = 0;

  /** Takes the mean time of a call in the next window, in any unit. Returns whether the mechanism is warm. */
  isWarmAfter(perCall: number): boolean {
    if (perCall < this.#best * (1 - GAIN_MIN)) {
      this.#best = perCall;
      this.#withoutGain = 0;
    } else this.#withoutGain++;
    return this.#withoutGain >= WINDOWS_WITHOUT_GAIN;
  }

  /** Returns the mean time of a call in the fastest window so far, exact to the minimum gain. */
  get best(): number {
    return this.#best;
  }
}
