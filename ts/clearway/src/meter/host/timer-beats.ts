// SPDX-License-Identifier: MIT OR Apache-2.0
import { clearTimeout, setTimeout, type Timer, unref } from "../../globals.js";
import { BeatDetector, type DetectedStall, FastestTransit } from "../detect.js";

/** Timers find every stall of at least this length, in milliseconds. */
export const timerFloorMs = 20;
/** In milliseconds. To save wake-ups, Chromium delays a page's timers by up to 8 ms. A shorter period would add no information. */
const periodMs = 8;
/** In milliseconds. A stall of `timerFloorMs` can seem this short, because its start is known to plus or minus half a period. */
const foundFloorMs = timerFloorMs - periodMs / 2;

/**
 * Detects stalls from the watched thread's own timers.
 *
 * The timers are imprecise, but available on every host. The meter uses them while no better source runs. In a browser, this is the case
 * until the watcher's thread sends steady beats, and if that thread cannot start. In other hosts, this is the case if the event loop does
 * not report its idle time.
 */
export class TimerBeats {
  readonly #floorMs: number;
  #detector: BeatDetector;
  #dueMs = 0;
  #timer: Timer | undefined;

  constructor(
    floorMs: number,
    private readonly now: () => number,
    private readonly onDetected: (stall: DetectedStall | undefined) => void,
  ) {
    this.#floorMs = Math.max(floorMs, foundFloorMs);
    this.#detector = this.#fresh();
  }

  /** Starts the timers. Takes the current time as the thread's last answer. Does nothing if the timers run already. */
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

  /** See `BeatDetector.blockedUntil`. */
  blockedUntil(atMs: number): void {
    this.#detector.blockedUntil(atMs);
  }

  /** Reports the stall that is still open at `atMs`. */
  finish(atMs: number): void {
    if (this.#timer !== undefined) this.onDetected(this.#detector.finish(atMs, periodMs));
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Returns a new detector. A timer is due on this thread's own clock, so the fastest transit time is always 0. */
  #fresh(): BeatDetector {
    return new BeatDetector(this.#floorMs, new FastestTransit(0, Number.POSITIVE_INFINITY));
  }

  #arm(): void {
    this.#dueMs = this.now() + periodMs;
    this.#timer = setTimeout(() => {
      this.onDetected(this.#detector.beat(this.#dueMs, this.now()));
      this.#arm();
    }, periodMs);
    unref(this.#timer);
  }
}
