// SPDX-License-Identifier: MIT OR Apache-2.0
import { BeatDetector } from "../detect/beats.js";
import { FastestWay } from "../detect/fastest-way.js";
import type { Found } from "../detect/turns.js";

/** Stalls of this length and longer are always found by timers. */
export const timerFloorMs = 20;
/** Chromium delays a page's timers by up to 8 ms to save wakes, so a finer beat would tell nothing more. */
const periodMs = 8;
/** The start of a stall is known to plus or minus half a beat: a stall of 20 ms may look this short. */
const foundFloorMs = timerFloorMs - periodMs / 2;

/**
 * Beats of the watched thread's own timers: coarse, but available on every host. They detect stalls while no better source
 * runs: before the first beats of the watcher's thread, where there is none, and where the loop does not tell its idle time.
 */
export class TimerBeats {
  readonly #floorMs: number;
  #detector: BeatDetector;
  #dueMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    floorMs: number,
    private readonly now: () => number,
    private readonly report: (found: Found | undefined) => void,
  ) {
    this.#floorMs = Math.max(floorMs, foundFloorMs);
    this.#detector = this.#fresh();
  }

  /** Begins to beat; the thread answers now. No effect while it beats. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#detector = this.#fresh();
    this.restart(this.now());
    this.#arm();
  }

  /** Forgets everything before `atMs`. */
  restart(atMs: number): void {
    this.#detector.restart(atMs);
  }

  /** See `BeatDetector.held`. */
  held(atMs: number): void {
    this.#detector.held(atMs);
  }

  /** Reports the stall that is still open at `atMs`. */
  finish(atMs: number): void {
    if (this.#timer !== undefined) this.report(this.#detector.finish(atMs, periodMs));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** A timer is due on this thread's own clock, so the fastest way is known: none. */
  #fresh(): BeatDetector {
    return new BeatDetector(this.#floorMs, new FastestWay(0));
  }

  #arm(): void {
    this.#dueMs = this.now() + periodMs;
    this.#timer = setTimeout(() => {
      this.report(this.#detector.beat(this.#dueMs, this.now()));
      this.#arm();
    }, periodMs);
    (this.#timer as { unref?: () => void }).unref?.();
  }
}
