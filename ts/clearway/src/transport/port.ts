// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Endpoint } from "../host/host.js";
import { frameSlots, type Op } from "./protocol.js";
import type { Refused, Transport } from "./transport.js";

interface Transfer {
  object: object;
  /** Index of the frame that it belongs to. */
  frame: number;
}

/** The port carrier: frames of one tick travel as one `postMessage`. Copies values, moves what is named. */
export class PortTransport implements Transport {
  readonly #endpoint: Endpoint;
  readonly #refused: Refused;
  #frames: unknown[] = [];
  #transfers: Transfer[] = [];
  #scheduled = false;
  #closed = false;

  constructor(endpoint: Endpoint, refused: Refused) {
    this.#endpoint = endpoint;
    this.#refused = refused;
  }

  send(op: Op, id: number, a?: unknown, b?: unknown, transfer?: readonly object[]): void {
    if (this.#closed) return;
    if (transfer?.length) {
      // The same object twice in one message would reach both receivers; apart, the second fails as it should.
      if (
        this.#transfers.length > 0 &&
        transfer.some((object) => this.#transfers.some((each) => each.object === object))
      ) {
        this.flush();
      }
      const frame = this.#frames.length;
      for (const object of transfer) this.#transfers.push({ object, frame });
    }
    this.#frames.push(op, id, a, b);
    if (!this.#scheduled) {
      this.#scheduled = true;
      queueMicrotask(this.#flushScheduled);
    }
  }

  readonly #flushScheduled = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  flush(): void {
    if (this.#frames.length === 0) return;
    const frames = this.#frames;
    const transfers = this.#transfers;
    this.#frames = [];
    this.#transfers = [];
    try {
      for (const { object } of transfers) refuseDetached(object);
      this.#endpoint.post(frames, transfers.length === 0 ? none : transfers.map((each) => each.object));
    } catch (reason) {
      this.#postApart(frames, transfers, reason);
    }
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
        this.#refused(frame[0] as Op, frame[1] as number, frame[2], reason, own);
      if (frames.length === frameSlots) return refuse(first);
      try {
        own.forEach(refuseDetached);
        this.#endpoint.post(frame, own);
      } catch (reason) {
        refuse(reason);
      }
    }
  }
}

const none: readonly object[] = [];

// Node 20 posts a buffer that was moved before without a word, and the whole message arrives as a messageerror. Newer ones
// throw; this can go with Node 20.
function refuseDetached(object: object): void {
  if (!(object instanceof ArrayBuffer) || object.byteLength > 0) return;
  try {
    new Uint8Array(object);
  } catch {
    throw new DOMException("An ArrayBuffer was moved before and could not be moved again.", "DataCloneError");
  }
}
