// SPDX-License-Identifier: MIT OR Apache-2.0
import { FastestWay } from "./fastest-way.js";
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
 * A sender that itself woke late tells how late. What kept it from waking is mostly the thread that it looks at: a
 * system with fewer free cores than threads lets the running one go on for some milliseconds. So the stall's start is
 * looked for before the moment at which the sender wanted to wake. Against 320 busy-waits of 10 and 50 ms in Chromium,
 * on two shared cores, that is off by 0.3 ms (median; 90 of 100: 0.6), and the middle between answer and sending, which
 * is late by half the sleep, by 0.6 ms (2.2). The stated error still covers all that the beats leave open.
 *
 * The sender's clock is brought to this one by the fastest message so far: its delay is taken as the way itself, any
 * more is waiting. Another sender has another clock, and needs another detector.
 */
export class BeatDetector {
  #lastMs: number | undefined;
  #heldUntilMs: number | undefined;

  constructor(
    private readonly floorMs: number,
    private readonly fastest: FastestWay = new FastestWay(),
  ) {}

  /** This clock minus the sender's, plus the fastest way between them. Infinite before the first beat. */
  get lagMinMs(): number {
    return this.fastest.ms;
  }

  /** Forgets the last beat: the next one starts afresh (after a hidden page, at the start of a run). */
  restart(atMs: number | undefined): void {
    this.#lastMs = atMs;
    this.#heldUntilMs = undefined;
  }

  /** The thread is known to have been held until `atMs`. A beat that was due before tells for how long it still was. */
  held(atMs: number): void {
    this.#lastMs = atMs;
    this.#heldUntilMs = atMs;
  }

  /**
   * A beat that was sent at `sentMs` (sender's clock), `heldMs` later than the sender wanted, was answered at `atMs`.
   * Returns the stall that it ended. If the sender was held up so long that a stall could hide in it, that is returned
   * with the part of it that is known, which may be under the floor: other evidence can make it longer.
   */
  beat(sentMs: number, atMs: number, heldMs = 0): Found | undefined {
    this.fastest.take(atMs - sentMs);
    const lastMs = this.#lastMs;
    this.#lastMs = atMs;
    if (lastMs === undefined) return undefined;
    const dueMs = sentMs + this.lagMinMs;
    const isKnown = this.#heldUntilMs === lastMs;
    this.#heldUntilMs = undefined;
    const tooShort = atMs - lastMs < this.floorMs;
    if (dueMs <= lastMs) {
      // Sent before the last answer: both came in one burst, and what they waited for has been counted. Or the thread was
      // held again before it came to this one; a message takes its time on a busy machine.
      if (tooShort && !isKnown) return undefined;
      const errorMs = Math.min(atMs - lastMs, lastMs - dueMs);
      return { startMs: lastMs, endMs: atMs, earliestMs: lastMs, errorMs, unwokenMs: 0, goesOn: isKnown };
    }
    if (tooShort) return undefined;
    const lateMs = atMs - dueMs;
    const unsureMs = dueMs - lastMs;
    // A sender that wanted to wake before the last answer was not kept from it by what came after that.
    const wantedMs = dueMs - heldMs > lastMs ? dueMs - heldMs : dueMs;
    const startMs = (lastMs + wantedMs) / 2;
    // Without lateness there was no stall, however long the sender slept.
    if (lateMs > unsureMs / 4 && atMs - startMs >= this.floorMs) {
      const errorMs = Math.max(startMs - lastMs, dueMs - startMs);
      return { startMs, endMs: atMs, earliestMs: lastMs, errorMs, unwokenMs: 0 };
    }
    if (heldMs <= 0) return undefined;
    return { startMs: dueMs, endMs: atMs, earliestMs: lastMs, errorMs: unsureMs, unwokenMs: 0 };
  }

  /** The run ends at `atMs` with no beat since: the thread cannot have answered since the last one. */
  finish(atMs: number, periodMs: number): Found | undefined {
    const lastMs = this.#lastMs;
    if (lastMs === undefined) return undefined;
    const lengthMs = atMs - lastMs - periodMs / 2;
    if (lengthMs < this.floorMs || lengthMs < periodMs) return undefined;
    return { startMs: atMs - lengthMs, endMs: atMs, earliestMs: lastMs, errorMs: periodMs / 2, unwokenMs: 0 };
  }
}
