// SPDX-License-Identifier: MIT OR Apache-2.0

/** A detected stall: the thread could not answer from `startMs` to `endMs`, on the host's clock. */
export interface DetectedStall {
  readonly startMs: number;
  readonly endMs: number;
  /** The earliest possible start of the stall. Any work since then may belong to the stall. */
  readonly earliestMs: number;
  readonly errorMs: number;
  /** The part of the stall in which the loop was idle and was not woken, in milliseconds. */
  readonly unwokenMs: number;
  /** Whether this continues the last stall that was found. That stall ended at `startMs`. */
  readonly continuesLast?: boolean;
}

/**
 * The phase of the loop's turn in which a reading was taken:
 * - `check`: an immediate took the reading after the poll. The immediate runs once per turn and never keeps the loop from sleeping.
 * - `timer`: a timer took the reading. The loop has not polled since the previous reading.
 */
export type Phase = "check" | "timer";

/**
 * Finds the stalls of a Node event loop, exactly, from the loop's own idle clock.
 *
 *     poll ... | I/O callbacks  check   timers      | poll ...
 *      idle    |<-------------- stall ------------->|
 *              answered         C       T           can answer again
 *
 * A stall lasts from the moment when the loop leaves the poll to the moment when it enters the next poll. An event that waits for the
 * next poll waits for all callbacks of the turn, so they count as one stall. Between two readings the loop was busy for (time - idle
 * time), so the detector does not estimate a stall's length.
 *
 * If a sleep began and ended between two readings, the readings do not show how much of the busy time came before the sleep. The
 * uncertainty is bounded: the loop sleeps at most until the next reading is due (`dueMs`), which is 1 ms after any work. The detector
 * places all busy time after the sleep. The length of a single run of work is then exact. If the work came before the sleep, the reported
 * start is late by at most the length of the sleep.
 */
export class TurnDetector {
  #atMs: number;
  #idleMs: number;
  #busySinceMs: number;
  #earliestMs: number;
  #unwokenMs = 0;
  #errorMs = 0;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(
    private readonly floorMs: number,
    atMs: number,
    idleMs: number,
  ) {
    this.#atMs = atMs;
    this.#idleMs = idleMs;
    this.#busySinceMs = atMs;
    this.#earliestMs = atMs;
  }

  /** Sets the host time at which the next `timer` reading is due. Set this after each reading that schedules another one. */
  set dueMs(value: number) {
    this.#dueMs = value;
  }

  /** Forgets the open stall and starts a new run. */
  restart(atMs: number, idleMs: number): void {
    this.#atMs = atMs;
    this.#idleMs = idleMs;
    this.#open(atMs, atMs, 0, 0);
  }

  /** Takes a reading. Returns the stall that the reading ended, if the stall is at least `floorMs` long. */
  read(phase: Phase, atMs: number, idleMs: number): DetectedStall | undefined {
    const gapMs = atMs - this.#atMs;
    const sleptMs = Math.min(gapMs, Math.max(0, idleMs - this.#idleMs));
    const busyMs = gapMs - sleptMs;
    const beforeMs = this.#atMs;
    this.#atMs = atMs;
    this.#idleMs = idleMs;
    // The loop has not polled since the last reading, so the stall continues.
    if (phase === "timer" && sleptMs === 0) return undefined;
    // Any work before the sleep must fit into the time that was left until the next reading was due.
    const unsureMs = sleptMs === 0 ? 0 : Math.min(busyMs, Math.max(0, this.#dueMs - beforeMs - sleptMs));
    const closed = this.#close(beforeMs);
    const wokeMs = beforeMs + sleptMs;
    const unwokenMs = sleptMs > 0 ? wokeMs - this.#dueMs : 0;
    // Timers have a granularity of 1 ms, so it is normal that the loop wakes late by less than `floorMs`.
    if (unwokenMs >= this.floorMs) this.#open(this.#dueMs, beforeMs, unsureMs, unwokenMs);
    else this.#open(atMs - busyMs, unsureMs > 0 ? beforeMs : atMs - busyMs, unsureMs, 0);
    return closed;
  }

  /** Ends the run at `atMs`. Returns the stall before the loop's last sleep, and the one that was still open. */
  finish(atMs: number, idleMs: number): DetectedStall[] {
    const found = [this.read("timer", atMs, idleMs), this.#close(atMs)];
    this.#open(atMs, atMs, 0, 0);
    return found.filter((stall) => stall !== undefined);
  }

  #open(busySinceMs: number, earliestMs: number, errorMs: number, unwokenMs: number): void {
    this.#busySinceMs = busySinceMs;
    this.#earliestMs = earliestMs;
    this.#errorMs = errorMs;
    this.#unwokenMs = unwokenMs;
  }

  #close(endMs: number): DetectedStall | undefined {
    const lengthMs = endMs - this.#busySinceMs;
    if (lengthMs < this.floorMs) return undefined;
    return {
      startMs: this.#busySinceMs,
      endMs,
      earliestMs: this.#earliestMs,
      errorMs: this.#errorMs,
      unwokenMs: this.#unwokenMs,
    };
  }
}
