// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Stall } from "../stall.js";
import type { CounterName } from "./instruments.js";
import { otherMark } from "./options.js";

/** What one stall adds to the metrics. Seconds, except for `frames`. */
export interface Amounts extends Record<Exclude<CounterName, "mark">, number> {
  readonly lengthS: number;
  readonly marks: readonly { readonly label: string; readonly timeS: number }[];
}

/** Computes what stalls add, with bounded labels. One object serves one scope. */
export class AmountCounter {
  readonly #labels = new Set<string>();

  constructor(
    private readonly hz: number,
    private readonly marksMax: number,
  ) {}

  of({ lengthMs, gcMs, machineMs, marks }: Stall): Amounts {
    const lengthS = secondsOf(lengthMs);
    // A stall of length b covers b * hz frames, and the last of them still appears, late: see `model/frames.ts`.
    const hitch = Math.max(0, lengthS - 1 / this.hz);
    return {
      lengthS,
      gc: secondsOf(gcMs),
      machine: secondsOf(machineMs),
      hitch,
      frames: hitch * this.hz,
      marks: marks.map(({ label, overlapMs }) => ({ label: this.#bounded(label), timeS: secondsOf(overlapMs) })),
    };
  }

  #bounded(label: string): string {
    if (this.#labels.has(label)) return label;
    if (this.#labels.size >= this.marksMax) return otherMark;
    this.#labels.add(label);
    return label;
  }
}

// A counter must not fall and must stay a number, so NaN and negative lengths count as 0.
function secondsOf(ms: number): number {
  return ms > 0 && ms < Number.POSITIVE_INFINITY ? ms / 1000 : 0;
}
