// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { clock } from "../../globals.js";
import { Op } from "../../transport/protocol.js";
import { Poller } from "../../transport/ring/poller.js";
import { RingPort } from "../../transport/ring/ring-port.js";

export { ringMemory } from "../../transport/ring/ring.js";

// The ring of a port's channel (`spec/ring.md`). It carries two kinds of ring frames. A chunk holds one frame of the channel.
// Its id is 1 if the sender asks the receiver to report the bytes that it took. A credit is such a report. The port loads this
// module on first use.

/** The owner of a ring port. It receives everything that arrives through the ring, and posts messages through the port. */
export interface ChannelRingPortOwner {
  /** Posts a message through the port. Throws the port's errors. */
  post(message: unknown[], transfer: readonly object[]): void;
  /** Receives a message of the port, in order with the ring's frames. */
  message(message: unknown[]): void;
  frame(frame: Uint8Array, asks: boolean): void;
  taken(bytes: number): void;
  broken(what: string): void;
}

// The poller reads active rings once per turn of the event loop (`transport/ring/poller.ts`).
const poller = new Poller({ now: () => clock(), afterTurn: afterMessages });

// A message of RingPort is a flat array of ring frames. Each ring frame takes four slots.
const slots = 4;
// The slots of a message behind its mark. No message of a port has more (`port-message.ts`).
const messageSlots = [4, 5, 6, 7, 8, 9, 10];

/**
 * One end of a pair of rings. The poller reads its ring between turns of the event loop. When no frame arrives, the end sleeps.
 */
export class ChannelRingPort extends RingPort {
  readonly #poll: { sent(): void; woken(): void };
  #closed = false;

  /** Throws `protocol` if `memory` is not a ring of this version. */
  constructor(
    readonly memory: SharedArrayBuffer,
    side: "caller" | "worker",
    owner: ChannelRingPortOwner,
  ) {
    super(
      memory,
      side,
      { post: (message, transfer) => owner.post(message as unknown[], transfer) },
      {
        // By index: the array of a hostile end may have 2^32 holes, or a `slice` of its own.
        message: (frames) => owner.message(frames[0] === Op.Mark ? messageSlots.map((at) => frames[at]) : frames),
        frame: (op, id, a) => {
          if (this.#closed) return;
          if (op === Op.Chunk && a instanceof Uint8Array) owner.frame(a, id === 1);
          else if (op === Op.Credit && typeof a === "number") owner.taken(a);
          else owner.broken(`a frame of kind ${op} in the ring`);
        },
        drained: () => {},
        broken: (error) => owner.broken(error.message),
        copied: () => {},
      },
    );
    this.#poll = poller.add(this);
  }

  /** Copies a small frame into the ring. Returns false if the frame has to go through the port. */
  offer(frame: Uint8Array, asks: boolean): boolean {
    if (!this.send(Op.Chunk, asks ? 1 : 0, frame, undefined)) return false;
    this.#poll.sent();
    return true;
  }

  /** Reports the number of bytes that this end took. Returns false if the report has to go through the port. */
  credit(bytes: number): boolean {
    if (!this.send(Op.Credit, 0, bytes, undefined)) return false;
    this.#poll.sent();
    return true;
  }

  override post(message: unknown, transfer: readonly object[]): void {
    const frames = message as unknown[];
    while (frames.length % slots !== 0) frames.push(undefined);
    super.post(frames, transfer);
    this.#poll.sent();
  }

  override receive(message: unknown): void {
    super.receive(message);
    if (!this.#closed) this.#poll.woken();
  }

  /** Whether the poller may expect frames for this end. True until the end is closed. */
  expects(): boolean {
    return !this.#closed;
  }

  close(): void {
    this.#closed = true;
  }
}
