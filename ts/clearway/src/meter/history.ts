// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Stall } from "./stall.js";

/** A stall with its times on the host's clock. */
export interface PlacedStall {
  readonly startMs: number;
  readonly endMs: number;
  readonly stall: Omit<Stall, "startMs">;
}

/**
 * Keeps the stalls of a run in bounded memory.
 *
 * If there are more than `stallsMax` stalls, the history drops the oldest ones and counts them. The covered time then starts after the
 * last dropped stall. Every figure therefore stays exact for the covered time.
 */
export class StallHistory {
  #stalls: PlacedStall[] = [];
  #dropped = 0;
  #coveredFromMs: number;

  constructor(
    private readonly stallsMax: number,
    beginMs: number,
  ) {
    this.#coveredFromMs = beginMs;
  }

  get dropped(): number {
    return this.#dropped;
  }

  get coveredFromMs(): number {
    return this.#coveredFromMs;
  }

  get stalls(): readonly PlacedStall[] {
    return this.#stalls;
  }

  add(stall: PlacedStall): void {
    this.#stalls.push(stall);
    if (this.#stalls.length <= this.stallsMax) return;
    // Drops a quarter of the stalls at once. Dropping one stall at a time would move the whole list for each new stall.
    const dropped = this.#stalls.splice(0, Math.max(1, this.stallsMax >> 2));
    this.#dropped += dropped.length;
    this.#coveredFromMs = dropped.at(-1)!.endMs;
  }
}
