// SPDX-License-Identifier: MIT OR Apache-2.0
import { FastestWay } from "./fastest-way.js";
import type { Found } from "./turns.js";

/**
 * Finds stalls from a heartbeat that another thread sends, such as a worker's messages.
 *
 * It is for hosts that do not report their idle time.
 *
 *     sent       d0      d1      d2      d3      d4      (on the sender, converted to this clock)
 *     answered   d0      d1                       .....   d2, d3 and d4 arrive in one burst at the end
 *                         |--?--|<---- stall ---->|
 *                               the stall began somewhere between d1's answer and d2's sending
 *
 * A sender that woke late reports how late it woke. Its delay is mostly caused by the watched thread: a system with fewer free cores
 * than threads lets the running thread continue for some milliseconds. The detector therefore places the stall's start before the
 * moment at which the sender wanted to wake. Measured against 320 busy-waits of 10 and 50 ms in Chromium, on two shared cores, this
 * estimate is off by 0.3 ms (median; 90 of 100: 0.6). The midpoint between answer and sending, which is late by half the sleep, is off
 * by 0.6 ms (2.2). The stated error still covers the whole interval that the beats leave open.
 *
 * The fastest message so far converts the sender's clock to this one: its delay counts as transit time, and any further delay counts as
 * waiting. Another sender has another clock and needs another detector.
 */
export class BeatDetector {
  #lastMs: number | undefined;
  #heldUntilMs: number | undefined;

  constructor(
    private readonly floorMs: number,
    private readonly fastest: FastestWay = new FastestWay(),
  ) {}

  /** This clock minus the sender's, plus the fastest transit time between them. Infinite before the first beat. */
  get lagMinMs(): number {
    return this.fastest.ms;
  }

  /** Forgets the last beat, after a hidden page or at the start of a run. `atMs` is the last known answer, if there is one. */
  restart(atMs: number | undefined): void {
    this.#lastMs = atMs;
    this.#heldUntilMs = undefined;
  }

  /** Records that the thread was held until `atMs`. A beat that was due before then shows how much longer the thread was held. */
  held(atMs: number): void {
    this.#lastMs = atMs;
    this.#heldUntilMs = atMs;
  }

  /**
   * Takes a beat and returns the stall that it ended.
   *
   * The beat was sent at `sentMs` (the sender's clock), `heldMs` later than the sender wanted, and answered at `atMs`. If the sender
   * was delayed long enough to hide a stall, the method returns the known part of that stall. This part may be shorter than the floor;
   * other evidence can extend it.
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
      // This beat was sent before the last answer. Either both arrived in one burst, and their wait has been counted, or the thread was
      // held again before it handled this one. Messages take time on a busy machine.
      if (tooShort && !isKnown) return undefined;
      const errorMs = Math.min(atMs - lastMs, lastMs - dueMs);
      return { startMs: lastMs, endMs: atMs, earliestMs: lastMs, errorMs, unwokenMs: 0, goesOn: isKnown };
    }
    if (tooShort) return undefined;
    const lateMs = atMs - dueMs;
    const unsureMs = dueMs - lastMs;
    // If the sender wanted to wake before the last answer, events after that answer did not delay it.
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

  /** Ends the run at `atMs` and returns the open stall. Without a beat since the last one, the thread cannot have answered since. */
  finish(atMs: number, periodMs: number): Found | undefined {
    const lastMs = this.#lastMs;
    if (lastMs === undefined) return undefined;
    const lengthMs = atMs - lastMs - periodMs / 2;
    if (lengthMs < this.floorMs || lengthMs < periodMs) return undefined;
    return { startMs: atMs - lengthMs, endMs: atMs, earliestMs: lastMs, errorMs: periodMs / 2, unwokenMs: 0 };
  }
}
