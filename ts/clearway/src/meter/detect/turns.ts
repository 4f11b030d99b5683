// SPDX-License-Identifier: MIT OR Apache-2.0

/** What a detector found: the thread could not answer from `startMs` to `endMs`, on the host's clock. */
export interface Found {
  readonly startMs: number;
  readonly endMs: number;
  /** It did not begin before this; what ran since then may belong to it. */
  readonly earliestMs: number;
  readonly errorMs: number;
  /** Part of it in which the loop had nothing to do and still was not woken. */
  readonly unwokenMs: number;
  /** Not another stall than the one that was found last and ended at `startMs`: that went on. */
  readonly goesOn?: boolean;
}

/**
 * Where in the loop's turn a reading was taken:
 * - `check`: after the poll, by an immediate that never keeps the loop from sleeping. One a turn.
 * - `timer`: in the timers phase. No poll lies between it and the reading before it.
 */
export type Phase = "check" | "timer";

/**
 * Finds the stalls of a Node event loop, exactly, from its own clock of idle time.
 *
 *     poll ... | I/O callbacks  check   timers      | poll ...
 *      idle    |<-------------- stall ------------->|
 *              answered         C       T           can answer again
 *
 * A stall runs from the moment that the loop left the poll to the moment that it entered the next: callbacks that run
 * back to back in one turn are one stall to an event that waits for the next poll. Between two readings the loop was
 * busy for (time - idle time), so a stall's length needs no guess about when it began.
 *
 * What cannot be seen is how the busy time splits around a sleep that began and ended between two readings. It is
 * bounded: the loop sleeps no longer than until the next reading that is due (`dueMs`), 1 ms after any work. All of it
 * is placed after the sleep: that gives the length of a single run of work exactly, and places it too late by the sleep
 * at most if the work came before.
 */
export class TurnDetector {
  #atMs: number;
  #idleMs: number;
  #runMs: number;
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
    this.#runMs = atMs;
    this.#earliestMs = atMs;
  }

  /** When the next `timer` reading is due, on the host's clock. Set after each reading that arms one. */
  set dueMs(value: number) {
    this.#dueMs = value;
  }

  /** Forgets what is running: a new run starts here. */
  restart(atMs: number, idleMs: number): void {
    this.#atMs = atMs;
    this.#idleMs = idleMs;
    this.#open(atMs, atMs, 0, 0);
  }

  /** Takes a reading. Returns the stall that it ended, if that reached the floor. */
  read(phase: Phase, atMs: number, idleMs: number): Found | undefined {
    const gapMs = atMs - this.#atMs;
    const sleptMs = Math.min(gapMs, Math.max(0, idleMs - this.#idleMs));
    const busyMs = gapMs - sleptMs;
    const beforeMs = this.#atMs;
    this.#atMs = atMs;
    this.#idleMs = idleMs;
    // No poll since the last reading: the run goes on.
    if (phase === "timer" && sleptMs === 0) return undefined;
    // Work before the sleep cannot be more than what was left until the next reading fell due.
    const unsureMs = sleptMs === 0 ? 0 : Math.min(busyMs, Math.max(0, this.#dueMs - beforeMs - sleptMs));
    const closed = this.#close(beforeMs);
    const wokeMs = beforeMs + sleptMs;
    const unwokenMs = sleptMs > 0 ? wokeMs - this.#dueMs : 0;
    // Timers have a granularity of 1 ms: a wake that is late by less than the floor is no news.
    if (unwokenMs >= this.floorMs) this.#open(this.#dueMs, beforeMs, unsureMs, unwokenMs);
    else this.#open(atMs - busyMs, unsureMs > 0 ? beforeMs : atMs - busyMs, unsureMs, 0);
    return closed;
  }

  /** Ends the run at `atMs` and returns the stall that was still open. */
  finish(atMs: number, idleMs: number): Found | undefined {
    const slept = idleMs - this.#idleMs;
    const before = this.read("timer", atMs, idleMs);
    const last = slept > 0 ? before : undefined;
    const open = this.#close(atMs);
    this.#open(atMs, atMs, 0, 0);
    return open ?? last;
  }

  #open(runMs: number, earliestMs: number, errorMs: number, unwokenMs: number): void {
    this.#runMs = runMs;
    this.#earliestMs = earliestMs;
    this.#errorMs = errorMs;
    this.#unwokenMs = unwokenMs;
  }

  #close(endMs: number): Found | undefined {
    const lengthMs = endMs - this.#runMs;
    if (lengthMs < this.floorMs) return undefined;
    return {
      startMs: this.#runMs,
      endMs,
      earliestMs: this.#earliestMs,
      errorMs: this.#errorMs,
      unwokenMs: this.#unwokenMs,
    };
  }
}
