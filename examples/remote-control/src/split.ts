// SPDX-License-Identifier: MIT OR Apache-2.0
// Splits the time between a command and the frame that shows it. Compares no two clocks: the server reports how long it kept a command,
// the page measures the total, and the rest is the network.

/** A frame's report of one command that it shows. Times are durations on the server's clock. */
export interface Shown {
  /** The command's number, counted by the page from 1. */
  readonly command: number;
  /** Time from the command's arrival at the server to the sending of this frame. */
  readonly keptMs: number;
  /** Part of that time in which native code drew the frame. */
  readonly nativeMs: number;
}

/** One command's round trip. The parts add up to the total. */
export interface RoundTrip {
  readonly command: number;
  /** When the page had painted the frame, by the page's clock. */
  readonly atMs: number;
  readonly totalMs: number;
  /** Both directions, including the wait in the sockets. */
  readonly networkMs: number;
  /** In the server: the command's wait for the next frame, and the frame's wait to be sent. */
  readonly queueMs: number;
  readonly nativeMs: number;
  /** Time from the frame's arrival until the page had painted it. */
  readonly paintMs: number;
}

export const parts = ["network", "queue", "native", "paint"] as const;
export type Part = (typeof parts)[number];

/** @param sentMs, arrivedMs, paintedMs on the page's clock. */
export function split(shown: Shown, sentMs: number, arrivedMs: number, paintedMs: number): RoundTrip {
  const { command, keptMs, nativeMs } = shown;
  return {
    command,
    atMs: paintedMs,
    totalMs: paintedMs - sentMs,
    // Two clocks run at different rates: over some hundred ms they may differ by a few us, so a difference may be negative.
    networkMs: Math.max(0, arrivedMs - sentMs - keptMs),
    queueMs: Math.max(0, keptMs - nativeMs),
    nativeMs,
    paintMs: paintedMs - arrivedMs,
  };
}

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

  /** Returns undefined if fewer than ten values lie beyond the quantile: it would depend on those few alone. */
  quantile(q: number): number | undefined {
    const n = this.length;
    if (n * (1 - q) < 10) return undefined;
    return this.#values.slice(0, n).sort()[Math.ceil(n * q) - 1];
  }

  clear(): void {
    this.#count = 0;
  }
}
