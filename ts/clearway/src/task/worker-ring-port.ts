// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import type { Endpoint } from "../host/host.js";
import { AdaptiveSpin } from "../transport/ring/adaptive-spin.js";
import { RingPort, type RingPortOwner } from "../transport/ring/ring-port.js";

/** A ring as SpinThenPark sees it. */
export interface WatchedRing {
  drain(): boolean;
  park(): boolean;
  unpark(): void;
  readonly blocked: boolean;
  readonly waiting: boolean;
  readonly maySpin: boolean;
}

/** What SpinThenPark needs of its worker. */
export interface Watched {
  /** Whether the event loop must turn: a call is open that waits for something, or a resource is open. */
  busy(): boolean;
}

// Longest spin, in microseconds. It equals the cost of a wake-up (42 us per round trip, nearly all of it to wake a core), so spinning costs
// at most twice what it can save.
const awakeUs = 50;
// Longest time without a turn of the event loop, in milliseconds; the same as in the runner.
const turnMs = 1;
// Polls between two readings of the clock. A poll costs 2 to 5 ns, a reading 45 ns.
const looks = 64;
// Two readings are usually 0.0003 ms apart. At this distance, in milliseconds, the scheduler has taken the core away.
const jumpMs = 0.03;

/**
 * How a worker waits. It reads and runs what has arrived, then spins for a moment: without a turn of the event loop if no call and no
 * resource is open, otherwise with turns in between. Then it parks, and its event loop sleeps as usual: the module's timers and sockets
 * work, and a message of the caller wakes it.
 */
export class SpinThenPark {
  readonly #ring: WatchedRing;
  readonly #worker: Watched;
  readonly #duration = new AdaptiveSpin(awakeUs);
  #quietSinceMs = 0;
  #turning = false;

  constructor(ring: WatchedRing, worker: Watched) {
    this.#ring = ring;
    this.#worker = worker;
  }

  /** Polls the ring from now until it parks. Called after a message of the port. */
  watch(): void {
    if (this.#turning) return;
    this.#ring.unpark();
    const clock = performance.now();
    this.#duration.woken((clock - this.#quietSinceMs) * 1000);
    this.#quietSinceMs = clock;
    this.#look(false);
  }

  readonly #turn = (): void => {
    this.#turning = false;
    this.#look(true);
  };

  // `awake`: it has spun since the last poll, so a frame that it finds was met by spinning. A frame beside a message was not.
  #look(awake: boolean): void {
    const ring = this.#ring;
    const beganMs = performance.now();
    let clock = beganMs;
    while (clock - beganMs < turnMs) {
      if (ring.drain()) {
        if (awake) this.#duration.met();
        awake = true;
        clock = this.#quietSinceMs = performance.now();
        continue;
      }
      // The message of a mark comes by the event loop, and wakes the worker.
      if (ring.blocked) return;
      const leftUs = ring.maySpin ? this.#duration.at(clock) - (clock - this.#quietSinceMs) * 1000 : 0;
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
    if (this.#ring.park()) return;
    this.#turning = true;
    afterMessages(this.#turn);
  }

  #spin(fromMs: number, limitUs: number): boolean {
    const ring = this.#ring;
    const untilMs = fromMs + limitUs / 1000;
    for (let clock = fromMs; clock < untilMs; ) {
      for (let each = 0; each < looks; each++) if (ring.waiting) return true;
      const next = performance.now();
      if (next - clock > jumpMs) {
        this.#duration.jumped(next);
        break;
      }
      clock = next;
    }
    return ring.waiting;
  }
}

/** The worker's end of its rings. Polls by itself from the first `watch` on. */
export class WorkerRingPort extends RingPort {
  readonly #spinner: SpinThenPark;

  /** Throws `protocol` when `memory` is no ring of this version. */
  constructor(memory: SharedArrayBuffer, endpoint: Endpoint, owner: RingPortOwner & Watched) {
    super(memory, "worker", endpoint, owner);
    this.#spinner = new SpinThenPark(this, owner);
    // Messages from before the ring may still be in flight by port, without a number, and the caller may read the ring before them. A first
    // message behind them, with its mark, keeps the ring's frames behind both.
    this.post([], none);
  }

  /** Called after a message of the port. */
  watch(): void {
    this.#spinner.watch();
  }
}

const none: readonly object[] = [];
