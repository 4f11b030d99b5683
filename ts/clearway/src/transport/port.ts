// SPDX-License-Identifier: MIT OR Apache-2.0

import { losesMoved, mayLoseOthers, refuseDetached } from "#host";
import { OwnPromise } from "../globals.js";
import type { Endpoint } from "../host/host.js";
import { coded, frameSlots, Op } from "./protocol.js";

/**
 * Carries frames to the other side, in order. The suite in `test/transport` tests every implementation against this contract:
 *
 * - `send` takes a frame and returns at once; it never blocks. The frame leaves at the end of the tick, or earlier: with `flush`, or as one of many
 *   calls.
 * - The objects in `transfer` move when the frame leaves. The caller must not use them after `send`.
 * - A frame that cannot be encoded does not affect the other frames. The transport passes that frame and the reason to `OnRefused`. The
 *   sender keeps the frame's `transfer` objects.
 */
export interface Transport {
  /** Whether a flush will come without a further request. `send` requests one only while this is false. `Linger` delays it. */
  scheduled: boolean;
  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void;
  /** Posts all waiting frames now. */
  flush(): void;
  /**
   * Called after a value that a task or a source has handed over, at `nowMs`. The thread may now be busy for long, so the value must not wait
   * for the end of the tick. Posts the waiting frames, except in a burst of many values: there at most an eighth of the values waits for
   * the next one. `bytes` is the weight of the value.
   */
  hurry(nowMs: number, bytes?: number): void;
  /** Drops all waiting frames, and all frames that `send` takes later. Sends no wake-up for the frames that were sent before. */
  close(): void;
}

/** Receives a frame that could not be sent, and the objects that the frame would have moved. */
export type OnRefused = (
  op: Op,
  id: number,
  a: unknown,
  reason: unknown,
  transfer: readonly object[],
  b: unknown,
) => void;

/**
 * A faster transport next to the port, for small frames. The ring in shared memory implements it.
 *
 * The fast path and the port deliver frames in one common order. Therefore, once a fast path is open, the sender also posts the frames
 * for the port with the fast path's `post`.
 */
export interface FastPath extends Endpoint {
  /**
   * Copies a small frame and sends it. Never blocks. Returns false if the frame must be sent through the port. It has then sent nothing.
   */
  send(op: Op, id: number, a: unknown, b: unknown): boolean;
  /** Bytes of binary memory in the last frame that was sent. */
  readonly binaryBytes: number;
  /** Whether the other side sleeps and still needs a wake-up to read the sent frames. */
  readonly owesWake: boolean;
  /** Wakes the other side if necessary. One message covers all sent frames. */
  wake(): void;
}

/** A placeholder for slot `b` of a chunk. The ring's `send` writes the bytes of binary memory in the chunk's value there. */
export const countBytes = Symbol.for("clearway.countBytes");

// With this many frames, a message leaves before the tick ends if another call follows. The worker then runs these calls while the caller
// prepares the others: of a thousand calls with an object, each took 3.7 us instead of 5.1. A message costs some microseconds.
const callsMax = 128;
// A burst ends when no value comes for this many milliseconds. The next value begins another burst, and is posted at once.
const burstGapMs = 1;
// The first values of a burst are posted one by one, because a task that names its phases may then work for long. Of the others, one of
// `burstShare` values may wait. A stream of 20,000 values then takes about 120 messages more than without these limits.
const burstSingly = 64;
const burstShare = 8;
// Bytes that may wait in a burst. A message of this size takes longer to copy than to post.
const burstBytes = 65_536;

interface Transfer {
  object: object;
  /** Index in the array of frames where this object's frame starts. */
  frame: number;
}

/**
 * Sends frames through the port. One `postMessage` carries all frames of one tick, but at most 128 calls. Copies values and moves the objects
 * in `transfer`.
 *
 * If there is a ring, a frame that the ring accepts is sent through it at once. While a frame that the ring has refused waits for the port, the
 * following frames are sent through the port, too.
 */
export class PortTransport implements Transport {
  /** The faster transport for small frames. The other side must open its end before it receives the port's next message. */
  ring: FastPath | undefined;
  scheduled = false;
  readonly #endpoint: Endpoint;
  readonly #onRefused: OnRefused;
  #frames: unknown[] = [];
  #transfers: Transfer[] = [];
  /** Whether no other frame's objects may be in the next message. Valid while `#transfers` is not empty. */
  #closed = false;
  #postingSingly = false;
  /** Number of values of the present burst, and how many of them wait. */
  #burst = 0;
  #held = 0;
  #heldBytes = 0;
  #hurriedMs = Number.NEGATIVE_INFINITY;

  constructor(endpoint: Endpoint, onRefused: OnRefused) {
    this.#endpoint = endpoint;
    this.#onRefused = onRefused;
  }

  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void {
    if (this.#closed || (!transfer?.length && this.sendByRing(op, id, a, b))) return;
    if (this.#frames.length >= callsMax * frameSlots && (op & ~coded) === Op.Call && !this.#postingSingly) this.flush();
    const movesAlone = transfer?.length ? this.#addTransfers(transfer) : false;
    this.#frames.push(op, id, a, b);
    if (movesAlone) this.flush();
    else this.#schedule();
  }

  /**
   * Posts all waiting frames and this frame by port, now. Never uses the ring, because the other side may have stopped reading it at the
   * mark of a lost message.
   */
  post(op: Op, id: number, a?: unknown): void {
    if (this.#closed) return;
    this.#frames.push(op, id, a, undefined);
    this.flush();
  }

  // A separate function, because its closures would make each call of `send` allocate a context. Returns whether the frame must be posted alone.
  #addTransfers(transfer: readonly object[]): boolean {
    // Flushes first in two cases. If one message named an object twice, both receivers would get it; in a second message the post fails,
    // as it should. And if the host refuses a message after it has moved objects, no other frame may be in that message.
    const movesAlone = losesMoved || transfer.some(mayLoseOthers);
    if (movesAlone || this.#transfers.some(({ object }) => transfer.includes(object))) this.flush();
    const frame = this.#frames.length;
    for (const object of transfer) this.#transfers.push({ object, frame });
    return movesAlone;
  }

  /** Sends a frame through the ring only. Returns false if there is no ring, or if the frame must be sent through the port. */
  sendByRing(op: Op, id: number, a: unknown, b: unknown): boolean {
    // The frames that wait for the port were sent earlier, so this frame must not overtake them.
    if (this.#closed || !this.ring || this.#frames.length > 0 || this.#postingSingly || !this.ring.send(op, id, a, b))
      return false;
    if (this.ring.owesWake) this.#schedule();
    return true;
  }

  #schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    void resolved.then(this.#flushScheduled);
  }

  readonly #flushScheduled = (): void => {
    this.scheduled = false;
    this.flush();
  };

  hurry(nowMs: number, bytes = 0): void {
    const paused = nowMs - this.#hurriedMs >= burstGapMs;
    this.#hurriedMs = nowMs;
    if (paused) this.#burst = 0;
    this.#burst++;
    this.#held++;
    this.#heldBytes += bytes;
    // The ring's frames have left already. A flush only wakes the other side.
    const mayWait = this.#burst > burstSingly && this.#held * burstShare <= this.#burst && this.#heldBytes < burstBytes;
    if (!mayWait || this.#frames.length === 0) this.flush();
  }

  flush(): void {
    // What is sent while frames are posted one by one must not overtake the rest of them.
    if (this.#postingSingly) return;
    this.#held = this.#heldBytes = 0;
    if (this.#frames.length === 0) return this.#closed ? undefined : this.ring?.wake();
    const frames = this.#frames;
    const transfers = this.#transfers;
    this.#frames = [];
    this.#transfers = [];
    try {
      this.#post(frames, transfers.length === 0 ? none : transfers.map((each) => each.object));
    } catch (reason) {
      this.#postingSingly = true;
      try {
        this.#postSingly(frames, transfers, reason);
      } finally {
        this.#postingSingly = false;
        // Sends what `#onRefused` has added. If no frame could be posted, no message has woken the other side for the frames that left by ring.
        this.flush();
      }
    }
  }

  #post(frames: unknown[], transfer: readonly object[]): void {
    transfer.forEach(refuseDetached);
    (this.ring ?? this.#endpoint).post(frames, transfer);
  }

  close(): void {
    this.#closed = true;
    this.#frames = [];
    this.#transfers = [];
  }

  // Posts each frame in its own message, so that only the frames with a bad value are refused. That is possible because a `postMessage`
  // that throws has moved nothing of the other frames: see `losesMoved`.
  #postSingly(frames: unknown[], transfers: Transfer[], first: unknown): void {
    for (let at = 0; at < frames.length; at += frameSlots) {
      const frame = frames.slice(at, at + frameSlots);
      const own = transfers.filter((each) => each.frame === at).map((each) => each.object);
      const refuse = (reason: unknown): void =>
        this.#onRefused(frame[0] as Op, frame[1] as number, frame[2], reason, own, frame[3]);
      if (frames.length === frameSlots) return refuse(first);
      try {
        this.#post(frame, own);
      } catch (reason) {
        refuse(reason);
      }
    }
  }
}

const none: readonly object[] = [];

// A promise's reactions are microtasks. `queueMicrotask` of Node takes about three times as long (60 ns instead of 22 ns, once per tick).
const resolved = OwnPromise.resolve();
