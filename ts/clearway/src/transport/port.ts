// SPDX-License-Identifier: MIT OR Apache-2.0
import { mayLoseOthers, refuseDetached } from "#host";
import type { Endpoint } from "../host/host.js";
import type { FastPath } from "./fast-path.js";
import { frameSlots, type Op } from "./protocol.js";
import type { Refused, Transport } from "./transport.js";

interface Transfer {
  object: object;
  /** Index of the frame that it belongs to. */
  frame: number;
}

/**
 * Sends frames through the port: frames of one tick cross as one `postMessage`. Copies values and moves the named objects. Once there is
 * a ring, frames that it accepts leave through it at once. After the first frame that it does not accept, the rest of the tick goes by
 * port.
 */
export class PortTransport implements Transport {
  /** The faster way for small frames. The other side must have opened it before the port's next message arrives there. */
  ring: FastPath | undefined;
  readonly #endpoint: Endpoint;
  readonly #refused: Refused;
  #frames: unknown[] = [];
  #transfers: Transfer[] = [];
  #scheduled = false;
  #closed = false;
  #apart = false;

  constructor(endpoint: Endpoint, refused: Refused) {
    this.#endpoint = endpoint;
    this.#refused = refused;
  }

  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void {
    if (this.#closed || (!transfer?.length && this.sendByRing(op, id, a, b))) return;
    if (transfer?.length) this.#take(transfer);
    this.#frames.push(op, id, a, b);
    this.#schedule();
  }

  /** Posts a frame now, with all waiting frames, and never by the ring. The other side may be stopped at the mark of a lost message. */
  post(op: Op, id: number, a?: unknown): void {
    this.#frames.push(op, id, a, undefined);
    this.flush();
  }

  // Separate from `send`, where each call would create a context for these closures.
  #take(transfer: readonly object[]): void {
    // An object named twice in one message would reach both receivers. In separate messages the second one fails, as it should. And a
    // refusal of one frame's memory must not cost another frame memory that was moved before it.
    if (
      this.#transfers.length > 0 &&
      (transfer.some((object) => this.#transfers.some((each) => each.object === object)) ||
        (transfer.some(mayLoseOthers) && this.#transfers.some((each) => mayLoseOthers(each.object))))
    ) {
      this.flush();
    }
    const frame = this.#frames.length;
    for (const object of transfer) this.#transfers.push({ object, frame });
  }

  /** Sends a frame by the ring or not at all. Returns false when there is no ring, or the frame has to go by port. */
  sendByRing(op: Op, id: number, a: unknown, b: unknown): boolean {
    // Frames that wait for the port were sent before this one.
    if (!this.ring || this.#frames.length > 0 || this.#apart || !this.ring.send(op, id, a, b)) return false;
    if (this.ring.owesWake) this.#schedule();
    return true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void now.then(this.#flushScheduled);
  }

  readonly #flushScheduled = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  flush(): void {
    if (this.#frames.length === 0) return this.#closed ? undefined : this.ring?.wake();
    const frames = this.#frames;
    const transfers = this.#transfers;
    this.#frames = [];
    this.#transfers = [];
    try {
      for (const { object } of transfers) refuseDetached(object);
      this.#post(frames, transfers.length === 0 ? none : transfers.map((each) => each.object));
    } catch (reason) {
      // A frame sent from within a refusal must not overtake the frames still to be posted.
      this.#apart = true;
      try {
        this.#postApart(frames, transfers, reason);
      } finally {
        this.#apart = false;
        // Perhaps no frame could be posted. The frames that left by ring still owe the other side its wake-up.
        if (!this.#closed) this.ring?.wake();
      }
    }
  }

  #post(frames: unknown[], transfer: readonly object[]): void {
    (this.ring ?? this.#endpoint).post(frames, transfer);
  }

  close(): void {
    this.#closed = true;
    this.#frames = [];
    this.#transfers = [];
  }

  // A throwing postMessage has moved nothing, so each frame can be tried alone and only the bad ones are refused. One exception: Chromium
  // throws on WebAssembly memory after it has moved the objects before it in the list.
  #postApart(frames: unknown[], transfers: Transfer[], first: unknown): void {
    for (let at = 0; at < frames.length; at += frameSlots) {
      const frame = frames.slice(at, at + frameSlots);
      const own = transfers.filter((each) => each.frame === at).map((each) => each.object);
      const refuse = (reason: unknown): void =>
        this.#refused(frame[0] as Op, frame[1] as number, frame[2], reason, own, frame[3]);
      if (frames.length === frameSlots) return refuse(first);
      try {
        own.forEach(refuseDetached);
        this.#post(frame, own);
      } catch (reason) {
        refuse(reason);
      }
    }
  }
}

const none: readonly object[] = [];

// The reactions of a promise are microtasks. Node's `queueMicrotask` takes three times as long: 60 ns instead of 22 ns, once per tick.
const now = Promise.resolve();
