// SPDX-License-Identifier: MIT OR Apache-2.0
// Splits the time between a command and the frame that shows it. Never compares two clocks: the server reports how long it kept a command,
// and the page measures the total. The rest is the network's time.

/** A frame's report of one command that it shows. The times are durations on the server's clock, in milliseconds. */
export interface Shown {
  /** The command's number. The page counts from 1. */
  readonly command: number;
  /** Time from the command's arrival at the server to the sending of this frame. */
  readonly keptMs: number;
  /** The part of that time in which native code drew the frame. */
  readonly nativeMs: number;
}

/** The round trip of one command, in milliseconds. The parts add up to the total. */
export interface RoundTrip {
  readonly command: number;
  /** When the page had painted the frame, on the page's clock. */
  readonly atMs: number;
  readonly totalMs: number;
  /** Time on the network in both directions, including the waits in the sockets. */
  readonly networkMs: number;
  /** Time in the server: the command's wait for the next frame, and the frame's wait until it is sent. */
  readonly queueMs: number;
  readonly nativeMs: number;
  /** Time from the frame's arrival until the page had painted it. */
  readonly paintMs: number;
}

export const parts = ["network", "queue", "native", "paint"] as const;
export type Part = (typeof parts)[number];

/** Splits one round trip. @param sentMs, arrivedMs, paintedMs on the page's clock. */
export function split(shown: Shown, sentMs: number, arrivedMs: number, paintedMs: number): RoundTrip {
  const { command, keptMs, nativeMs } = shown;
  return {
    command,
    atMs: paintedMs,
    totalMs: paintedMs - sentMs,
    // The two clocks run at different rates. Over some hundred ms they may differ by a few us, and the difference may then be negative.
    networkMs: Math.max(0, arrivedMs - sentMs - keptMs),
    queueMs: Math.max(0, keptMs - nativeMs),
    nativeMs,
    paintMs: paintedMs - arrivedMs,
  };
}

/** Returns how many values a quantile needs: ten must lie beyond it. With fewer, it would depend on those few values alone. */
export const valuesFor = (q: number): number => Math.ceil(10 / (1 - q));

/** The newest values of a series, with quantiles. */
export class Newest {
  readonly #values: Float64Array;
  #count = 0;

  constructor(most: number) {
    this.#values = new Float64Array(most);
  }

  add(value: number): void {
    this.#values[this.#count++ % this.#values.length] = value;
  }

  get length(): number {
    return Math.min(this.#count, this.#values.length);
  }

  /** Returns a quantile. Returns undefined if there are fewer values than `valuesFor(q)`. */
  quantile(q: number): number | undefined {
    const n = this.length;
    if (n < valuesFor(q)) return undefined;
    return this.#values.slice(0, n).sort()[Math.ceil(n * q) - 1];
  }

  clear(): void {
    this.#count = 0;
  }
}
