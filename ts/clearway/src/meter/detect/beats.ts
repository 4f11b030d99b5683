// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Found } from "./turns.js";

/**
 * Finds stalls from a heartbeat that comes from outside the thread (a worker's messages), for hosts that do not tell
 * their idle time.
 *
 *     sent       d0      d1      d2      d3      d4      (on the sender, brought to this clock)
 *     answered   d0      d1                       .....   d2, d3 and d4 come in one burst at the end
 *                         |--?--|<---- stall ---->|
 *                               the stall began somewhere between d1's answer and d2's sending
 *
 * The sender's clock is brought to this one by the fastest message so far: its delay is taken as the way itself, any
 * more is waiting. Clocks that drift would make that go stale, so the minimum is renewed from the last two windows.
 */
export class BeatDetector {
  #lastMs: number | undefined;
  #lagMinMs = Number.POSITIVE_INFINITY;
  #lagMinOldMs = Number.POSITIVE_INFINITY;
  #beats = 0;

  constructor(
    private readonly floorMs: number,
    private readonly windowBeats = 5_000,
  ) {}

  /** This clock minus the sender's, plus the fastest way between them. Infinite before the first beat. */
  get lagMinMs(): number {
    return Math.min(this.#lagMinMs, this.#lagMinOldMs);
  }

  /** Forgets the last beat: the next one starts afresh (after a hidden page, at the start of a run). */
  restart(atMs: number | undefined): void {
    this.#lastMs = atMs;
  }

  /** A beat that was sent at `sentMs` (sender's clock) was answered at `atMs`. Returns the stall that it ended. */
  beat(sentMs: number, atMs: number): Found | undefined {
    const lagMs = atMs - sentMs;
    this.#renew(lagMs);
    const lastMs = this.#lastMs;
    this.#lastMs = atMs;
    if (lastMs === undefined) return undefined;
    const dueMs = sentMs + this.lagMinMs;
    // A beat that was sent before the last answer waited for the same stall: it has been counted.
    if (dueMs <= lastMs) return undefined;
    const lateMs = atMs - dueMs;
    const unsureMs = (dueMs - lastMs) / 2;
    const lengthMs = lateMs + unsureMs;
    // Without lateness there was no stall, however long the sender slept.
    if (lateMs <= unsureMs / 2 || lengthMs < this.floorMs) return undefined;
    return { startMs: atMs - lengthMs, endMs: atMs, earliestMs: lastMs, errorMs: unsureMs, unwokenMs: 0 };
  }

  /** The run ends at `atMs` with no beat since: the thread cannot have answered since the last one. */
  finish(atMs: number, periodMs: number): Found | undefined {
    const lastMs = this.#lastMs;
    if (lastMs === undefined) return undefined;
    const lengthMs = atMs - lastMs - periodMs / 2;
    if (lengthMs < this.floorMs || lengthMs < periodMs) return undefined;
    return { startMs: atMs - lengthMs, endMs: atMs, earliestMs: lastMs, errorMs: periodMs / 2, unwokenMs: 0 };
  }

  #renew(lagMs: number): void {
    this.#beats++;
    if (this.#beats % this.windowBeats === 0) {
      this.#lagMinOldMs = this.#lagMinMs;
      this.#lagMinMs = lagMs;
    } else if (lagMs < this.#lagMinMs) this.#lagMinMs = lagMs;
  }
}
