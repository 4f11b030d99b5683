// SPDX-License-Identifier: MIT OR Apache-2.0
import { Patience } from "./patience.js";

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
}

/** The clock, in milliseconds, and turns of the event loop; tests bring their own. */
export interface Loop {
  now(): number;
  /** Calls `next` after timers, I/O and messages had their turn. */
  afterTurn(next: () => void): void;
}

interface Hot {
  readonly lane: PolledLane;
  readonly patience: Patience;
  on: boolean;
  /** When something was sent or came last; NaN: in this turn. */
  sinceMs: number;
}

// A task that is answered within this is answered awake; a longer one costs a wake-up, which is then a tenth of it. In
// microseconds. Measured: bench/latency.mjs is the same from 50 up; what 200 buys is tasks of 50 to 200 us.
const windowUs = 200;
// A window that met nothing is halved down to this, which a turn of the loop and a trivial task fit in.
const windowMinUs = 25;

/**
 * The caller's waiting: it never blocks. While answers are expected it looks once a turn of the event loop, for as long as
 * patience lasts; then the lane parks, and the worker posts one message for all that it has. Timers, I/O and frames come
 * between any two looks. With no lane hot it does nothing at all. One for all lanes of a thread.
 */
export class Poller {
  /** How often it has looked, ever. */
  turns = 0;
  readonly #loop: Loop;
  #hot: Hot[] = [];
  #running = false;

  constructor(loop: Loop) {
    this.#loop = loop;
  }

  /** Looks after a lane, which is parked. Returns what to call when something was sent, and when a message came by port. */
  add(lane: PolledLane): { sent(toSleeper: boolean): void; woken(): void } {
    const hot: Hot = { lane, patience: new Patience(windowUs, windowMinUs, true), on: false, sinceMs: 0 };
    return {
      sent: (toSleeper) => {
        if (!hot.on && toSleeper && this.#cold(hot)) return;
        this.#heat(hot);
      },
      woken: () => {
        if (!hot.on) hot.patience.woken((this.#loop.now() - hot.sinceMs) * 1000);
        this.#heat(hot);
      },
    };
  }

  // The first call after a pause, to a worker that sleeps: waiting awake for it gains nothing over sleeping, as waking the
  // worker is nearly all of the trip, and where the scheduler wakes it on this core it would have to wait for this thread.
  // Measured after pauses of 2 ms, p50 and p90: 26 to 32 and 62 to 82 us awake, 24 to 26 and 36 to 43 asleep.
  #cold(hot: Hot): boolean {
    const clock = this.#loop.now();
    const paused = (clock - hot.sinceMs) * 1000 > windowUs;
    if (paused) hot.sinceMs = clock;
    return paused;
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
    const { lane, patience } = hot;
    if (Number.isNaN(hot.sinceMs)) hot.sinceMs = clock;
    if (lane.drain()) {
      patience.met();
      hot.sinceMs = clock;
      return true;
    }
    if (lane.blocked) return false;
    if (lane.expects()) {
      if ((clock - hot.sinceMs) * 1000 <= patience.at(clock)) return true;
      patience.gaveUp();
    }
    return !lane.park();
  }
}
