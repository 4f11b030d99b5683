// SPDX-License-Identifier: MIT OR Apache-2.0
import { turnBudgetMs } from "../turn-budget.js";

// In microseconds. The time that wake-ups add to a wait that ended in sleep: one wake-up in each direction, 20 to 50 us each (measured).
// If a wait was longer than the longest spin by no more than this, a spin might have caught its answer.
const wakeUs = 100;
// In milliseconds, a few time slices. After the scheduler has preempted a spin, another thread needs the core. Spinning then stays off
// for this time.
const preemptedOffMs = 5;
// The maximum number of soon answers between two trials. A failed trial costs a full spin. That is three to ten times the time of an
// answer that wakes a sleeper on a shared core. At this rate, trials add at most a tenth to the time of the answers.
const trialGapMax = 127;

/**
 * Decides how long to spin before sleeping, from the outcomes of earlier waits. Has no clock: the caller passes the time.
 *
 * The spin time is either the maximum or 0. An answer during a spin sets it to the maximum. A spin without an answer sets it to 0.
 *
 * A soon answer is one that arrives soon after the thread has gone to sleep. There are two possible causes. Either a longer spin would have
 * caught the answer, or the spin itself delayed the other side because both sides share a core. A trial, which is one more spin, finds
 * the cause. The first soon answer starts a trial. After each failed trial, 1, 3, 7, ... up to 127 soon answers pass before the next one.
 */
export class AdaptiveSpin {
  #us: number;
  /** `#soonAnswers`: soon answers since the last trial. `#trialGap`: soon answers that must pass before the next trial. */
  #soonAnswers = 0;
  #trialGap = 0;
  #offUntilMs = 0;

  constructor(private readonly maxUs: number) {
    this.#us = maxUs;
  }

  /** Returns how long to spin at this time, in microseconds. 0 means not at all. */
  usAt(clockMs: number): number {
    return clockMs < this.#offUntilMs ? 0 : this.#us;
  }

  /** Records that an answer arrived during a spin. */
  caught(): void {
    this.#us = this.maxUs;
    this.#trialGap = 0;
  }

  /** Records that an answer woke the sleeping thread. `waitedUs` is the time since the wait began. */
  woken(waitedUs: number): void {
    if (!(waitedUs <= this.maxUs + wakeUs) || this.#us > 0 || this.#soonAnswers++ < this.#trialGap) return;
    this.#us = this.maxUs;
    this.#soonAnswers = 0;
    this.#trialGap = Math.min(2 * this.#trialGap + 1, trialGapMax);
  }

  /** Records that no answer arrived during the spin. */
  gaveUp(): void {
    this.#us = 0;
  }

  /** Records that the clock jumped during a spin: the scheduler took the core away. */
  jumped(clockMs: number): void {
    this.#offUntilMs = clockMs + preemptedOffMs;
  }
}

/** The functions of a ring that the poller uses. */
interface PolledRing {
  drain(): boolean;
  /** Asks the other side for a message that wakes this side. Returns false, without asking, if a frame has arrived in the meantime. */
  park(): boolean;
  unpark(): void;
  /** Whether the ring has stopped at a mark. The mark's message is in flight and will wake this side. */
  readonly blocked: boolean;
  /** Whether this side waits for an answer of the other side. */
  expects(): boolean;
  /** Whether the other side has published a frame that this side has not read. */
  readonly waiting: boolean;
}

/** A clock in milliseconds, and the turns of the event loop. Tests pass their own implementation. */
interface Loop {
  now(): number;
  /** Calls `next` after timers, I/O and messages have run. */
  afterTurn(next: () => void): void;
}

interface RingState {
  readonly ring: PolledRing;
  readonly spin: AdaptiveSpin;
  isHot: boolean;
  /** When the last frame was sent or arrived, in milliseconds. NaN if the last frame was sent after the last poll. */
  sinceMs: number;
  /** When the ring was last polled, in milliseconds. */
  polledMs: number;
  /** Whether a poll after a send has found an answer since the last turn. */
  caughtAfterSend: boolean;
  /** The number of next calls after which the poller does not poll right after the send. */
  skipsLeft: number;
  /** The value from which `skipsLeft` last counted down. */
  skipsLast: number;
}

// In microseconds. The poller stays awake for this long to catch an answer. A later answer costs a wake-up, which then adds about a tenth
// to the wait. Measured: the latency of a trivial call is the same with every value from 50 up. With 200, tasks of 50 to 200 us get
// faster, too.
const windowUs = 200;
// In milliseconds. Two polls are usually 0.001 to 0.01 apart. If they are this far apart, the worker had to take this core to answer.
const jumpMs = 0.03;
// Number of polls after one send. Together they take 1 us. On another core, the answer to a trivial call is there after 0.4 to 0.7 us. A
// turn of the event loop costs 1 us in Node and 4 to 6 us in Chromium (a message to the own thread, or `postTask`).
const pollsAfterSend = 256;
// In milliseconds. The poller polls after a send only in this first part of a turn. The event loop therefore turns, even if the caller
// makes calls without a pause. The value is a tenth of the time for which Clearway may block a thread.
const afterSendMs = 0.1;
// Maximum of `skipsLeft`. After each poll after a send that finds no answer, the poller skips the next 1, 3, 7 ... of them. They then cost
// little if both sides share a core or if the task takes longer.
const skipsMax = 127;

/**
 * Polls the rings of one thread without ever blocking. All worker rings of a thread share one instance.
 *
 * A ring is hot while the poller polls it once per turn of the event loop. A ring stays hot while answers are due and `AdaptiveSpin`
 * allows it. Then the ring parks: it asks the worker for a wake-up, and the worker posts one message for all its frames. Between any two
 * polls, the event loop handles timers, I/O and display frames. A turn in which the polled rings took 2 ms polls no further ring. Without a
 * hot ring the poller does nothing.
 *
 * A caller that makes one call after the other would wait for a whole turn each time. That takes longer than the answer. If a call on a
 * hot ring is the only open one, the poller therefore also polls right after the send, for at most 1 us, and only in the first 0.1 ms of a
 * turn.
 */
export class Poller {
  /** The number of turns with polls so far. */
  turns = 0;
  readonly #loop: Loop;
  #hot: RingState[] = [];
  #running = false;
  #turnedMs = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /**
   * Adds a parked ring. The caller must call `sent` after it has sent a frame, and `woken` after a message has arrived by port.
   *
   * After each of these calls, and after each poll, the ring is hot, parked, or stopped at a mark. Any other state would lose a wake-up: an
   * answer in the ring would not wake this side.
   */
  add(ring: PolledRing): { sent(alone?: boolean): void; woken(): void } {
    const state: RingState = {
      ring,
      spin: new AdaptiveSpin(windowUs),
      isHot: false,
      sinceMs: 0,
      polledMs: 0,
      caughtAfterSend: false,
      skipsLeft: 0,
      skipsLast: 0,
    };
    return {
      // `alone`: the frame is a call, and no other call is open. The poll after the send may read its answer at once.
      sent: (alone = false) => {
        const wasHot = state.isHot;
        if (wasHot || this.#shouldPoll(state)) this.#makeHot(state);
        if (wasHot && alone) this.#pollAfterSend(state);
      },
      woken: () => {
        // The poller already polls the ring.
        if (state.isHot) return;
        state.spin.woken((this.#loop.now() - state.sinceMs) * 1000);
        if (this.#shouldPoll(state) && ring.expects()) return this.#makeHot(state);
        // The sender of the message has cleared this side's `parked` word. `park` sets the word again, unless a frame has arrived.
        if (!ring.park()) this.#makeHot(state);
      },
    };
  }

  #pollAfterSend(state: RingState): void {
    if (state.skipsLeft > 0) {
      state.skipsLeft--;
      return;
    }
    const { ring } = state;
    if (ring.blocked || this.#loop.now() - this.#turnedMs > afterSendMs) return;
    for (let each = 0; each < pollsAfterSend; each++) {
      if (!ring.waiting) continue;
      state.skipsLast = 0;
      state.caughtAfterSend = true;
      state.spin.caught();
      ring.drain();
      return;
    }
    state.skipsLeft = state.skipsLast = Math.min(2 * state.skipsLast + 1, skipsMax);
  }

  // Returns whether to poll the ring from now on. If not, the ring starts to wait now, at `sinceMs`.
  #shouldPoll(state: RingState): boolean {
    state.sinceMs = this.#loop.now();
    return state.spin.usAt(state.sinceMs) > 0;
  }

  #makeHot(state: RingState): void {
    state.sinceMs = Number.NaN;
    if (state.isHot) return;
    state.isHot = true;
    state.ring.unpark();
    this.#hot.push(state);
    if (this.#running) return;
    this.#running = true;
    this.#loop.afterTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.turns++;
    const clock = this.#loop.now();
    this.#turnedMs = clock;
    // `drain` may make another ring hot. The next turn polls that ring.
    const polled = this.#hot;
    this.#hot = [];
    const again: RingState[] = [];
    for (const state of polled) {
      // Each ring may hold values for a millisecond or more. The next turn begins with the rings that this turn has not polled.
      if (state !== polled[0] && this.#loop.now() - clock >= turnBudgetMs) {
        state.sinceMs = Number.NaN;
        this.#hot.push(state);
      } else if (this.#pollOnce(state, clock)) again.push(state);
      else state.isHot = false;
    }
    this.#hot.push(...again);
    if (this.#hot.length > 0) this.#loop.afterTurn(this.#turn);
    else this.#running = false;
  };

  #pollOnce(state: RingState, clock: number): boolean {
    const { ring, spin } = state;
    const waited = !Number.isNaN(state.sinceMs);
    if (!waited) state.sinceMs = clock;
    const jumped = waited && clock - state.polledMs > jumpMs;
    state.polledMs = clock;
    const { caughtAfterSend } = state;
    state.caughtAfterSend = false;
    if (ring.drain()) {
      if (jumped) spin.gaveUp();
      else spin.caught();
      state.sinceMs = clock;
      return true;
    }
    if (ring.blocked) return false;
    // A poll after a send has found an answer in this turn, and often the next call follows soon.
    if (caughtAfterSend) return true;
    if (ring.expects()) {
      if ((clock - state.sinceMs) * 1000 < spin.usAt(clock)) return true;
      spin.gaveUp();
    }
    return !ring.park();
  }
}
