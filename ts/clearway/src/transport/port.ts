// SPDX-License-Identifier: MIT OR Apache-2.0
import { isDoubtful, refuseDetached } from "#host";
import type { Endpoint } from "../host/host.js";
import type { Lane } from "./lane.js";
import { frameSlots, type Op } from "./protocol.js";
import type { Refused, Transport } from "./transport.js";

interface Transfer {
  object: object;
  /** Index of the frame that it belongs to. */
  frame: number;
}

/**
 * The port carrier: frames of one tick travel as one `postMessage`. Copies values, moves what is named. Once there is a
 * lane, frames that it takes leave by it at once; from the first that it does not take, the rest of the tick goes by port.
 */
export class PortTransport implements Transport {
  /** The faster way for small frames. It must be open on the other side when the next message of the port arrives there. */
  lane: Lane | undefined;
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
    if (this.#closed || (!transfer?.length && this.sendByLane(op, id, a, b))) return;
    if (transfer?.length) this.#take(transfer);
    this.#frames.push(op, id, a, b);
    this.#schedule();
  }

  /** Sends a frame now, and by port, with all that waits: the other side may stand at the mark of a message that was lost. */
  post(op: Op, id: number, a?: unknown): void {
    this.#frames.push(op, id, a, undefined);
    this.flush();
  }

  // Apart from `send`, which would make a context for these closures in every call.
  #take(transfer: readonly object[]): void {
    // The same object twice in one message would reach both receivers; apart, the second fails as it should. And a
    // refusal of one frame's memory must not cost another's that was moved before it.
    if (
      this.#transfers.length > 0 &&
      (transfer.some((object) => this.#transfers.some((each) => each.object === object)) ||
        (transfer.some(isDoubtful) && this.#transfers.some((each) => isDoubtful(each.object))))
    ) {
      this.flush();
    }
    const frame = this.#frames.length;
    for (const object of transfer) this.#transfers.push({ object, frame });
  }

  /** Sends a frame by the lane or not at all: false when there is none, or it has to go by port. */
  sendByLane(op: Op, id: number, a: unknown, b: unknown): boolean {
    // What waits for the port was sent before.
    if (!this.lane || this.#frames.length > 0 || this.#apart || !this.lane.send(op, id, a, b)) return false;
    if (this.lane.owesWake) this.#schedule();
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
    if (this.#frames.length === 0) return this.#closed ? undefined : this.lane?.wake();
    const frames = this.#frames;
    const transfers = this.#transfers;
    this.#frames = [];
    this.#transfers = [];
    try {
      for (const { object } of transfers) refuseDetached(object);
      this.#post(frames, transfers.length === 0 ? none : transfers.map((each) => each.object));
    } catch (reason) {
      // What is sent from within a refusal must not overtake the frames that are still to be posted.
      this.#apart = true;
      try {
        this.#postApart(frames, transfers, reason);
      } finally {
        this.#apart = false;
      }
    }
  }

  #post(frames: unknown[], transfer: readonly object[]): void {
    (this.lane ?? this.#endpoint).post(frames, transfer);
  }

  close(): void {
    this.#closed = true;
    this.#frames = [];
    this.#transfers = [];
  }

  // A throwing postMessage has moved nothing, so each frame can be tried by itself; only the bad ones are refused. One
  // exception: Chromium throws on WebAssembly memory after it has moved what stands before it in the list.
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

// Its reactions are microtasks. Node's `queueMicrotask` takes three times as long: 60 ns against 22, once a tick.
const now = Promise.resolve();
