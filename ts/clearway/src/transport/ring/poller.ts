// SPDX-License-Identifier: MIT OR Apache-2.0
import { AdaptiveSpin } from "./adaptive-spin.js";

/** A lane as whoever looks after it sees it. */
export interface PolledLane {
  drain(): boolean;
  /** Asks to be woken by a message; false when something came meanwhile. */
  park(): boolean;
  unpark(): void;
  /** Stands at a mark: a message is under way that wakes this side. */
  readonly blocked: boolean;
  /** Whether anything is expected of the other side. */
  expects(): boolean;
  /** Whether something was published that was not read. */
  readonly waiting: boolean;
}

/** The clock, in milliseconds, and turns of the event loop; tests bring their own. */
export interface Loop {
  now(): number;
  /** Calls `next` after timers, I/O and messages had their turn. */
  afterTurn(next: () => void): void;
}

interface Hot {
  readonly lane: PolledLane;
  readonly spin: AdaptiveSpin;
  on: boolean;
  /** When something was sent or came last; NaN: in this turn. */
  sinceMs: number;
  /** When it was looked at last. */
  lookedMs: number;
  /** Whether a glance found an answer since the last turn. */
  glanced: boolean;
  /** Calls that are still to be sent without a glance, and how many were so before. */
  skip: number;
  rest: number;
}

// A task that is answered within this is answered awake; a longer one costs a wake-up, which is then a tenth of it. In
// microseconds. Measured: bench/latency.mjs is the same from 50 up; what 200 buys is tasks of 50 to 200 us.
const windowUs = 200;
// Two looks so far apart, in milliseconds, where 0.001 to 0.01 are usual: the worker had to take this core to answer.
const jumpMs = 0.03;
// Looks of a glance, 1 us of them: an answer to a trivial call is there after 0.4 to 0.7 us on another core, and a turn of the
// event loop costs 1 us in Node and 4 to 6 in Chromium (a message to itself, or `postTask`).
const looks = 256;
// So long after a turn of the event loop began, in milliseconds, answers are glanced for: then it turns again, whatever the
// caller does between its calls. A tenth of what may hold a thread.
const glanceMs = 0.1;
// A glance that finds nothing is tried again after 1, 3, 7 … calls, 127 at most: so little is lost where both sides share a
// core or the task takes longer.
const restMax = 127;

/**
 * The caller's waiting: it never blocks. While answers are expected it looks once a turn of the event loop, for as long as
 * spin lasts; then the lane parks, and the worker posts one message for all that it has. Timers, I/O and frames come
 * between any two looks. With no lane hot it does nothing at all. One for all lanes of a thread.
 *
 * Who makes one call after the other would wait for a turn each time, which takes longer than the answer. So on a lane that is
 * hot a call that is the only one is followed by a glance, 1 us at most, for 0.1 ms in a turn at most.
 */
export class Poller {
  /** How often it has looked, ever. */
  turns = 0;
  readonly #loop: Loop;
  #hot: Hot[] = [];
  #running = false;
  #turnedMs = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /**
   * Looks after a lane, which is parked. Returns what to call when something was sent, and when a message came by port. At
   * the end of either, and of a look, the lane is hot, or parked, or stands at a mark: there is no fourth, or an answer that
   * comes by the ring would be slept over.
   */
  add(lane: PolledLane): { sent(alone?: boolean): void; woken(): void } {
    const hot: Hot = {
      lane,
      spin: new AdaptiveSpin(windowUs),
      on: false,
      sinceMs: 0,
      lookedMs: 0,
      glanced: false,
      skip: 0,
      rest: 0,
    };
    return {
      // `alone`: a call, and nothing else is expected; its answer may be read here and now.
      sent: (alone = false) => {
        const wasHot = hot.on;
        if (wasHot || this.#hasPatience(hot)) this.#heat(hot);
        if (wasHot && alone) this.#glance(hot);
      },
      woken: () => {
        // It goes on looking.
        if (hot.on) return;
        hot.spin.woken((this.#loop.now() - hot.sinceMs) * 1000);
        if (this.#hasPatience(hot) && lane.expects()) return this.#heat(hot);
        // Whoever posted has cleared the word that says that this side sleeps. What came while it was set again is read.
        if (!lane.park()) this.#heat(hot);
      },
    };
  }

  #glance(hot: Hot): void {
    if (hot.skip > 0) {
      hot.skip--;
      return;
    }
    const { lane } = hot;
    if (lane.blocked || this.#loop.now() - this.#turnedMs > glanceMs) return;
    for (let look = 0; look < looks; look++) {
      if (!lane.waiting) continue;
      hot.rest = 0;
      hot.glanced = true;
      hot.spin.met();
      lane.drain();
      return;
    }
    hot.skip = hot.rest = Math.min(2 * hot.rest + 1, restMax);
  }

  // Whether to look at a lane from now on. If not, this is when its wait began.
  #hasPatience(hot: Hot): boolean {
    hot.sinceMs = this.#loop.now();
    return hot.spin.at(hot.sinceMs) > 0;
  }

  #heat(hot: Hot): void {
    hot.sinceMs = Number.NaN;
    if (hot.on) return;
    hot.on = true;
    hot.lane.unpark();
    this.#hot.push(hot);
    if (this.#running) return;
    this.#running = true;
    this.#loop.afterTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.turns++;
    const clock = this.#loop.now();
    this.#turnedMs = clock;
    // Reading may make a lane hot that was not: it is looked at in the next turn.
    const looked = this.#hot;
    this.#hot = [];
    for (const hot of looked) {
      if (this.#stays(hot, clock)) this.#hot.push(hot);
      else hot.on = false;
    }
    if (this.#hot.length > 0) this.#loop.afterTurn(this.#turn);
    else this.#running = false;
  };

  #stays(hot: Hot, clock: number): boolean {
    const { lane, spin } = hot;
    const waited = !Number.isNaN(hot.sinceMs);
    if (!waited) hot.sinceMs = clock;
    const jumped = waited && clock - hot.lookedMs > jumpMs;
    hot.lookedMs = clock;
    const { glanced } = hot;
    hot.glanced = false;
    if (lane.drain()) {
      if (jumped) spin.gaveUp();
      else spin.met();
      hot.sinceMs = clock;
      return true;
    }
    if (lane.blocked) return false;
    // The next call is often made when an answer was read.
    if (glanced) return true;
    if (lane.expects()) {
      if ((clock - hot.sinceMs) * 1000 < spin.at(clock)) return true;
      spin.gaveUp();
    }
    return !lane.park();
  }
}
