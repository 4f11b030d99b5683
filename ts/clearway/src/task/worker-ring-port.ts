// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { clock } from "../globals.js";
import type { Endpoint } from "../host/host.js";
import { AdaptiveSpin } from "../transport/ring/poller.js";
import { RingPort, type RingPortOwner } from "../transport/ring/ring-port.js";

/** The part of a ring that `SpinThenPark` uses. */
interface WatchedRing {
  drain(): boolean;
  park(): boolean;
  unpark(): void;
  readonly blocked: boolean;
  readonly waiting: boolean;
  readonly maySpin: boolean;
}

/** The part of a worker that `SpinThenPark` uses. */
interface Watched {
  /** Whether the event loop must turn: an open call waits for something, or a resource is open. */
  busy(): boolean;
}

// Maximum spin in microseconds. The limit equals the cost of a wake-up: 42 us per round trip, nearly all of it to wake a core. Spinning
// therefore costs at most twice the time that it can save.
const awakeUs = 50;
// Maximum time without a turn of the event loop, in milliseconds. The runner has the same limit.
const turnMs = 1;
// Number of polls between two readings of the clock. A poll costs 2 to 5 ns, and a reading 45 ns.
const pollsPerReading = 64;
// Two readings are usually 0.0003 ms apart. If they are more than this time apart, in milliseconds, the operating system has taken the core
// away.
const jumpMs = 0.03;

/**
 * Waits for frames in a worker: spins first, then parks.
 *
 * The worker reads and runs what has arrived, then polls the ring for a moment. While it polls, the event loop turns only if a call or a
 * resource is open. Then the worker parks, and its event loop sleeps as usual: the module's timers and sockets work, and a message of the
 * caller wakes it.
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

  /** Polls the ring until it parks. Called after a message of the port. */
  watch(): void {
    if (this.#turning) return;
    this.#ring.unpark();
    const atMs = clock();
    this.#duration.woken((atMs - this.#quietSinceMs) * 1000);
    this.#quietSinceMs = atMs;
    this.#pollRing(false);
  }

  readonly #turn = (): void => {
    this.#turning = false;
    this.#pollRing(true);
  };

  // Polls the ring and handles frames. `awake` is true if the worker has spun since the last poll. A frame that it then finds counts as
  // found by spinning. A frame that came with a message does not.
  #pollRing(awake: boolean): void {
    const ring = this.#ring;
    const beganMs = clock();
    let atMs = beganMs;
    while (atMs - beganMs < turnMs) {
      if (ring.drain()) {
        if (awake) this.#duration.caught();
        awake = true;
        atMs = this.#quietSinceMs = clock();
        continue;
      }
      // The message of a mark comes through the event loop and wakes the worker.
      if (ring.blocked) return;
      const leftUs = ring.maySpin ? this.#duration.usAt(atMs) - (atMs - this.#quietSinceMs) * 1000 : 0;
      if (leftUs <= 0) return this.#park();
      if (this.#worker.busy()) break;
      const found = this.#spin(atMs, leftUs);
      atMs = clock();
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
    for (let atMs = fromMs; atMs < untilMs; ) {
      for (let each = 0; each < pollsPerReading; each++) if (ring.waiting) return true;
      const next = clock();
      if (next - atMs > jumpMs) {
        this.#duration.jumped(next);
        break;
      }
      atMs = next;
    }
    return ring.waiting;
  }
}

/** The worker's end of its rings. Polls by itself after the first call of `watch`. */
export class WorkerRingPort extends RingPort {
  readonly #spinner: SpinThenPark;

  /** Throws `protocol` if `memory` is not a ring of this version. */
  constructor(memory: SharedArrayBuffer, endpoint: Endpoint, owner: RingPortOwner & Watched) {
    super(memory, "worker", endpoint, owner);
    this.#spinner = new SpinThenPark(this, owner);
    // Sends an empty first message with a mark. Messages from before the ring have no number and may still be in flight through the port.
    // Without the mark, the caller could read the ring's frames before these messages. The caller reads frames from the ring only after the
    // marked message, and it receives that message after the earlier ones.
    this.post([], none);
  }

  /** Polls the ring until it parks. Called after a message of the port. */
  watch(): void {
    this.#spinner.watch();
  }
}

const none: readonly object[] = [];
