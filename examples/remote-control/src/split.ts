// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the time goes between a command and the frame that shows it. No two clocks are compared: the server tells how long
// it kept a command, the page how long everything took, and the network is what is left.

/** What a frame tells of one command that it shows. Times are the server's own, as lengths. */
export interface Shown {
  /** Number of the command, counted by the page from 1. */
  readonly command: number;
  /** From its arrival at the server to the sending of this frame. */
  readonly keptMs: number;
  /** Part of that in which native code drew the frame. */
  readonly nativeMs: number;
}

/** One command's way there and back. The parts add up to the whole. */
export interface RoundTrip {
  readonly command: number;
  /** When the frame was on the page, by the page's clock. */
  readonly atMs: number;
  readonly totalMs: number;
  /** There and back, and what waits in the sockets. */
  readonly networkMs: number;
  /** In the server: for the next frame, and that frame for its turn. */
  readonly queueMs: number;
  readonly nativeMs: number;
  /** From the frame's arrival until it was on the page. */
  readonly paintMs: number;
}

export const parts = ["network", "queue", "native", "paint"] as const;
export type Part = (typeof parts)[number];

/** @param sentMs, arrivedMs, paintedMs by the page's clock. */
export function split(shown: Shown, sentMs: number, arrivedMs: number, paintedMs: number): RoundTrip {
  const { command, keptMs, nativeMs } = shown;
  return {
    command,
    atMs: paintedMs,
    totalMs: paintedMs - sentMs,
    // Two clocks do not tick alike: over some hundred ms they may differ by a few us, so that a length may come out below 0.
    networkMs: Math.max(0, arrivedMs - sentMs - keptMs),
    queueMs: Math.max(0, keptMs - nativeMs),
    nativeMs,
    paintMs: paintedMs - arrivedMs,
  };
}

/** The newest values of a series, and its quantiles. */
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

  /** Undefined where fewer than ten values lie beyond it: it would tell of those few alone. */
  quantile(q: number): number | undefined {
    const n = this.length;
    if (n * (1 - q) < 10) return undefined;
    return this.#values.slice(0, n).sort()[Math.ceil(n * q) - 1];
  }

  clear(): void {
    this.#count = 0;
  }
}
