// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import type { Endpoint } from "../host/host.js";
import { AdaptiveSpin } from "../transport/ring/adaptive-spin.js";
import { type LaneOwner, RingLane } from "../transport/ring/ring-lane.js";

/** A lane as SpinThenPark sees it. */
export interface WatchedLane {
  drain(): boolean;
  park(): boolean;
  unpark(): void;
  readonly blocked: boolean;
  readonly waiting: boolean;
  readonly maySpin: boolean;
}

/** What SpinThenPark asks of its worker. */
export interface Watched {
  /** Whether calls are open that go on by themselves, or something lives that needs the event loop. */
  busy(): boolean;
}

// How long a worker waits awake, in microseconds: what a wake-up costs here (42 us a round trip, nearly all of it waking a
// core), so that waiting never costs more than twice what it can save.
const awakeUs = 50;
// So long may it work and wait without letting its event loop turn, in milliseconds: the rhythm of the runner.
const turnMs = 1;
// Looks between two readings of the clock: a look costs 2 to 5 ns, a reading 45.
const looks = 64;
// Two readings so far apart, in milliseconds, where 0.0003 are usual: the scheduler has taken the core away meanwhile.
const jumpMs = 0.03;

/**
 * The worker's waiting. It reads and runs what came. With nothing left it waits awake for a moment: in place where no call
 * is open and no resource lives, else between turns of its event loop. Then it parks, and its event loop sleeps as any
 * other: timers and sockets of the module live on, and the caller wakes it by a message.
 */
export class SpinThenPark {
  readonly #lane: WatchedLane;
  readonly #worker: Watched;
  readonly #duration = new AdaptiveSpin(awakeUs);
  #quietSinceMs = 0;
  #turning = false;

  constructor(lane: WatchedLane, worker: Watched) {
    this.#lane = lane;
    this.#worker = worker;
  }

  /** Looks after the lane from now until it parks. Called when a message of the port was read. */
  watch(): void {
    if (this.#turning) return;
    this.#lane.unpark();
    const clock = performance.now();
    this.#duration.woken((clock - this.#quietSinceMs) * 1000);
    this.#quietSinceMs = clock;
    this.#look(false);
  }

  readonly #turn = (): void => {
    this.#turning = false;
    this.#look(true);
  };

  // `awake`: it has been since the look before, so that what it finds was met. What stands beside a message was not.
  #look(awake: boolean): void {
    const lane = this.#lane;
    const beganMs = performance.now();
    let clock = beganMs;
    while (clock - beganMs < turnMs) {
      if (lane.drain()) {
        if (awake) this.#duration.met();
        awake = true;
        clock = this.#quietSinceMs = performance.now();
        continue;
      }
      // The message that it waits for comes by the event loop, and wakes it.
      if (lane.blocked) return;
      const leftUs = lane.maySpin ? this.#duration.at(clock) - (clock - this.#quietSinceMs) * 1000 : 0;
      if (leftUs <= 0) return this.#park();
      if (this.#worker.busy()) break;
      const found = this.#spin(clock, leftUs);
      clock = performance.now();
      if (!found) return this.#park();
      awake = true;
    }
    this.#turning = true;
    afterMessages(this.#turn);
  }

  #park(): void {
    this.#duration.gaveUp();
    if (this.#lane.park()) return;
    this.#turning = true;
    afterMessages(this.#turn);
  }

  #spin(fromMs: number, limitUs: number): boolean {
    const lane = this.#lane;
    const untilMs = fromMs + limitUs / 1000;
    for (let clock = fromMs; clock < untilMs; ) {
      for (let each = 0; each < looks; each++) if (lane.waiting) return true;
      const next = performance.now();
      if (next - clock > jumpMs) {
        this.#duration.jumped(next);
        break;
      }
      clock = next;
    }
    return lane.waiting;
  }
}

/** The worker's end of its rings, which looks after itself from the first `watch` on. */
export class RingEnd extends RingLane {
  readonly #spinner: SpinThenPark;

  /** Throws `protocol` when `memory` is no ring of this version. */
  constructor(memory: SharedArrayBuffer, endpoint: Endpoint, owner: LaneOwner & Watched) {
    super(memory, "worker", endpoint, owner);
    this.#spinner = new SpinThenPark(this, owner);
    // What left before there was a ring may still be under way by port, unnumbered, and the caller may look into the ring
    // before its event loop brings that. A first message behind it, with its mark, keeps the ring's frames behind both.
    this.post([], none);
  }

  /** A message of the port was read. */
  watch(): void {
    this.#spinner.watch();
  }
}

const none: readonly object[] = [];
