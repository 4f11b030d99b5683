// SPDX-License-Identifier: MIT OR Apache-2.0
import { AdaptiveSpin } from "./adaptive-spin.js";

/** A ring as the poller sees it. */
export interface PolledRing {
  drain(): boolean;
  /** Asks to be woken by a message. Returns false when a frame arrived meanwhile. */
  park(): boolean;
  unpark(): void;
  /** Whether the ring is stopped at a mark: a message in flight will wake this side. */
  readonly blocked: boolean;
  /** Whether the ring expects something from the other side. */
  expects(): boolean;
  /** Whether a published frame is unread. */
  readonly waiting: boolean;
}

/** The clock in milliseconds, and turns of the event loop. Tests pass their own. */
export interface Loop {
  now(): number;
  /** Calls `next` after timers, I/O and messages had their turn. */
  afterTurn(next: () => void): void;
}

interface Hot {
  readonly ring: PolledRing;
  readonly spin: AdaptiveSpin;
  on: boolean;
  /** When the last frame was sent or arrived; NaN: in this turn. */
  sinceMs: number;
  /** When the ring was last polled. */
  lookedMs: number;
  /** Whether a glance found an answer since the last turn. */
  glanced: boolean;
  /** Calls to send without a glance (`skip`), and how many the last series had (`rest`). */
  skip: number;
  rest: number;
}

// In microseconds. An answer within this time is met awake; a later one costs a wake-up, which is then a tenth of it. Measured: the
// latency of a trivial call is the same from 50 up; 200 gains tasks of 50 to 200 us.
const windowUs = 200;
// In milliseconds. Two polls are usually 0.001 to 0.01 apart. At this distance, the worker had to take this core to answer.
const jumpMs = 0.03;
// Polls of a glance, 1 us in total. On another core, the answer to a trivial call is there after 0.4 to 0.7 us. A turn of the event loop
// costs 1 us in Node and 4 to 6 us in Chromium (a message to itself, or `postTask`).
const looks = 256;
// In milliseconds after a turn of the event loop began. Glances stop then, so that the loop turns, whatever the caller does between its
// calls. It is a tenth of the time that may block a thread.
const glanceMs = 0.1;
// After a glance without an answer, the next one follows 1, 3, 7 … calls later, at most 127. Little is therefore lost when both sides
// share a core or the task takes longer.
const restMax = 127;

/**
 * Polls the caller's rings without ever blocking; one instance serves all rings of a thread. While answers are expected, it polls once
 * per turn of the event loop, as long as `AdaptiveSpin` allows. Then the ring parks, and the worker posts one message for all its frames.
 * Timers, I/O and frames come between any two polls. Without a hot ring the poller does nothing.
 *
 * A caller that makes one call after the other would wait for a turn each time, which takes longer than the answer. On a hot ring, a call
 * that is the only open one is therefore followed by a glance: at most 1 us each, and only in the first 0.1 ms of a turn.
 */
export class Poller {
  /** Number of turns with polls so far. */
  turns = 0;
  readonly #loop: Loop;
  #hot: Hot[] = [];
  #running = false;
  #turnedMs = 0;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /**
   * Adds a ring, which must be parked. Returns the functions to call when a frame was sent, and when a message arrived by port. After
   * each of them, and after each poll, the ring is hot, or parked, or stopped at a mark. There is no fourth state: in it, an answer in
   * the ring would not wake this side.
   */
  add(ring: PolledRing): { sent(alone?: boolean): void; woken(): void } {
    const hot: Hot = {
      ring,
      spin: new AdaptiveSpin(windowUs),
      on: false,
      sinceMs: 0,
      lookedMs: 0,
      glanced: false,
      skip: 0,
      rest: 0,
    };
    return {
      // `alone`: the frame is a call and the only open one. Its answer may be read here, at once.
      sent: (alone = false) => {
        const wasHot = hot.on;
        if (wasHot || this.#hasPatience(hot)) this.#heat(hot);
        if (wasHot && alone) this.#glance(hot);
      },
      woken: () => {
        // The ring is polled already.
        if (hot.on) return;
        hot.spin.woken((this.#loop.now() - hot.sinceMs) * 1000);
        if (this.#hasPatience(hot) && ring.expects()) return this.#heat(hot);
        // The sender of the message has cleared this side's `parked` word. `park` sets it again, unless a frame arrived meanwhile.
        if (!ring.park()) this.#heat(hot);
      },
    };
  }

  #glance(hot: Hot): void {
    if (hot.skip > 0) {
      hot.skip--;
      return;
    }
    const { ring } = hot;
    if (ring.blocked || this.#loop.now() - this.#turnedMs > glanceMs) return;
    for (let look = 0; look < looks; look++) {
      if (!ring.waiting) continue;
      hot.rest = 0;
      hot.glanced = true;
      hot.spin.met();
      ring.drain();
      return;
    }
    hot.skip = hot.rest = Math.min(2 * hot.rest + 1, restMax);
  }

  // Returns whether to poll the ring from now on. If not, `sinceMs` is the start of its wait.
  #hasPatience(hot: Hot): boolean {
    hot.sinceMs = this.#loop.now();
    return hot.spin.at(hot.sinceMs) > 0;
  }

  #heat(hot: Hot): void {
    hot.sinceMs = Number.NaN;
    if (hot.on) return;
    hot.on = true;
    hot.ring.unpark();
    this.#hot.push(hot);
    if (this.#running) return;
    this.#running = true;
    this.#loop.afterTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.turns++;
    const clock = this.#loop.now();
    this.#turnedMs = clock;
    // Draining may make another ring hot. That ring is polled in the next turn.
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
    const { ring, spin } = hot;
    const waited = !Number.isNaN(hot.sinceMs);
    if (!waited) hot.sinceMs = clock;
    const jumped = waited && clock - hot.lookedMs > jumpMs;
    hot.lookedMs = clock;
    const { glanced } = hot;
    hot.glanced = false;
    if (ring.drain()) {
      if (jumped) spin.gaveUp();
      else spin.met();
      hot.sinceMs = clock;
      return true;
    }
    if (ring.blocked) return false;
    // After an answer, the next call often follows.
    if (glanced) return true;
    if (ring.expects()) {
      if ((clock - hot.sinceMs) * 1000 < spin.at(clock)) return true;
      spin.gaveUp();
    }
    return !ring.park();
  }
}
