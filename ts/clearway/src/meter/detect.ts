// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Tracks the fastest transit of a message between two threads: the smallest difference between the receiver's time and the sender's time.
 * Clocks drift, so an old minimum becomes stale. Only the minimums of the last two windows count. A window is a number of messages.
 */
export class FastestTransit {
  #olderMs = Number.POSITIVE_INFINITY;
  #count = 0;

  /** `lagMs` is a minimum that is known before the first message. */
  constructor(
    private lagMs = Number.POSITIVE_INFINITY,
    private readonly window = 5_000,
  ) {}

  /** The smallest difference, in milliseconds. Infinite if none is known. */
  get ms(): number {
    return Math.min(this.lagMs, this.#olderMs);
  }

  add(lagMs: number): void {
    if (++this.#count % this.window === 0) {
      this.#olderMs = this.lagMs;
      this.lagMs = lagMs;
    } else if (lagMs < this.lagMs) this.lagMs = lagMs;
  }
}

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
type Phase = "check" | "timer";

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

/**
 * Finds stalls from a heartbeat that another thread sends, such as a worker's messages.
 *
 * The detector is for hosts that do not report the idle time of their event loop. A thread is blocked while it cannot handle events.
 *
 *     sent       d0      d1      d2      d3      d4      (on the sender, converted to this clock)
 *     answered   d0      d1                       .....   d2, d3 and d4 arrive in one burst at the end
 *                         |--?--|<---- stall ---->|
 *                               the stall began between the answer to d1 and the sending of d2
 *
 * If the sender wakes late, its beat states how late. Usually the watched thread has caused the delay: a system with fewer free cores than
 * threads lets the running thread continue for some milliseconds. The detector therefore estimates the stall's start as the midpoint
 * between the last answer and the moment at which the sender wanted to wake. The reported error still covers the whole interval from the
 * last answer to the sending of this beat.
 *
 * This estimate was measured with 320 busy-waits of 10 and 50 ms in Chromium, on two shared cores. The estimate is off by 0.3 ms in the
 * median, and by at most 0.6 ms in 90 of 100 cases. A simpler estimate, the midpoint between the last answer and the sending, is late by
 * half the delay: it was off by 0.6 ms in the median, and by at most 2.2 ms in 90 of 100 cases.
 *
 * The fastest message so far gives the conversion from the sender's clock to this clock. The detector counts the delay of that message as
 * transit time, and any further delay as waiting. Each sender has its own clock and needs its own detector.
 */
export class BeatDetector {
  #lastMs: number | undefined;
  #blockedUntilMs: number | undefined;

  constructor(
    private readonly floorMs: number,
    private readonly fastest: FastestTransit = new FastestTransit(),
  ) {}

  /** This clock minus the sender's clock, plus the fastest transit time between them, in ms. Infinite before the first beat. */
  get lagMinMs(): number {
    return this.fastest.ms;
  }

  /** Discards the last beat, after a hidden page or at the start of a run. `atMs` is the time of the last known answer, if any. */
  restart(atMs: number | undefined): void {
    this.#lastMs = atMs;
    this.#blockedUntilMs = undefined;
  }

  /**
   * Records that the thread was blocked until `atMs`. If the next beat was due before `atMs`, the time of that beat shows how much longer
   * the thread was blocked.
   */
  blockedUntil(atMs: number): void {
    this.#lastMs = atMs;
    this.#blockedUntilMs = atMs;
  }

  /**
   * Takes a beat and returns the stall that it ended.
   *
   * The sender sent the beat at `sentMs` (its own clock), `wokeLateMs` later than it wanted. This thread answered at `atMs`. If the sender
   * woke late, a stall may have begun before the beat was sent. If the method finds no whole stall, it then returns the part after the
   * sending. This part may be shorter than `floorMs`, because other evidence can extend it.
   */
  beat(sentMs: number, atMs: number, wokeLateMs = 0): DetectedStall | undefined {
    this.fastest.add(atMs - sentMs);
    const lastMs = this.#lastMs;
    this.#lastMs = atMs;
    if (lastMs === undefined) return undefined;
    const dueMs = sentMs + this.lagMinMs;
    const isKnown = this.#blockedUntilMs === lastMs;
    this.#blockedUntilMs = undefined;
    const tooShort = atMs - lastMs < this.floorMs;
    if (dueMs <= lastMs) {
      // The sender sent this beat before the last answer. There are two possible reasons. Both beats arrived in one burst, and their wait
      // is already counted. Or the beat was still on its way at the last answer, as happens on a busy machine, and the thread was blocked
      // again before it handled the beat.
      if (tooShort && !isKnown) return undefined;
      const errorMs = Math.min(atMs - lastMs, lastMs - dueMs);
      return { startMs: lastMs, endMs: atMs, earliestMs: lastMs, errorMs, unwokenMs: 0, continuesLast: isKnown };
    }
    if (tooShort) return undefined;
    const lateMs = atMs - dueMs;
    const unsureMs = dueMs - lastMs;
    // If the sender wanted to wake before the last answer, no event after that answer caused the delay.
    const wantedMs = dueMs - wokeLateMs > lastMs ? dueMs - wokeLateMs : dueMs;
    const startMs = (lastMs + wantedMs) / 2;
    // If the beat was hardly late, there was no stall, even if the sender slept long.
    if (lateMs > unsureMs / 4 && atMs - startMs >= this.floorMs) {
      const errorMs = Math.max(startMs - lastMs, dueMs - startMs);
      return { startMs, endMs: atMs, earliestMs: lastMs, errorMs, unwokenMs: 0 };
    }
    if (wokeLateMs <= 0) return undefined;
    return { startMs: dueMs, endMs: atMs, earliestMs: lastMs, errorMs: unsureMs, unwokenMs: 0 };
  }

  /**
   * Ends the run at `atMs`. If a beat is overdue, the thread may be blocked since the last beat; returns a stall that begins half a period
   * after the last answer.
   */
  finish(atMs: number, periodMs: number): DetectedStall | undefined {
    const lastMs = this.#lastMs;
    if (lastMs === undefined) return undefined;
    const lengthMs = atMs - lastMs - periodMs / 2;
    if (lengthMs < this.floorMs || lengthMs < periodMs) return undefined;
    return { startMs: atMs - lengthMs, endMs: atMs, earliestMs: lastMs, errorMs: periodMs / 2, unwokenMs: 0 };
  }
}
