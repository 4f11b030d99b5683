// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { Op } from "../../transport/protocol.js";
import { at, capacityBytes, headerBytes, magic, version } from "../../transport/ring/layout.js";
import { Poller } from "../../transport/ring/poller.js";
import { RingLane } from "../../transport/ring/ring-lane.js";

// The ring beside a port's channel, as `spec/ring.md` has it, with two kinds of frames: a chunk is a channel's frame (its id is 1
// where the sender asks what was taken), a credit says what was. Loaded by whoever uses it.

/** What a way by ring tells its transport. */
export interface WayOwner {
  /** Posts by port. Throws what the port throws. */
  post(message: unknown[], transfer: readonly object[]): void;
  /** A message of the port, in its place among the frames. */
  message(message: unknown[]): void;
  frame(frame: Uint8Array, asks: boolean): void;
  taken(bytes: number): void;
  broken(what: string): void;
}

// Lanes are looked at once a turn while they are hot: `transport/ring/poller.ts`.
const poller = new Poller({ now: () => performance.now(), afterTurn: afterMessages });

// RingLane's messages are flat arrays of frames, four slots a frame.
const slots = 4;

/** One end of a ring each way. Either end drains it between its own turns, and sleeps when nothing comes. */
export class RingWay extends RingLane {
  readonly #poll: { sent(): void; woken(): void };
  #closed = false;

  /** Throws `protocol` when `memory` is no ring of this version. */
  constructor(
    readonly memory: SharedArrayBuffer,
    side: "caller" | "worker",
    owner: WayOwner,
  ) {
    super(
      memory,
      side,
      { post: (message, transfer) => owner.post(message as unknown[], transfer) },
      {
        message: (frames) => owner.message(frames[0] === Op.Mark ? frames.slice(slots) : frames),
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

  /** Takes a small frame, copying it; false when it has to go by port. */
  offer(frame: Uint8Array, asks: boolean): boolean {
    if (!this.send(Op.Chunk, asks ? 1 : 0, frame, undefined)) return false;
    this.#poll.sent();
    return true;
  }

  /** Tells what was taken; false when that has to go by port. */
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

  /** For the poller: who has sent or was sent something may expect more. */
  expects(): boolean {
    return !this.#closed;
  }

  close(): void {
    this.#closed = true;
  }
}

/** Memory for two rings, as the end that offers it lays it out. */
export function ringMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(headerBytes + 2 * capacityBytes);
  const words = new Int32Array(memory);
  words[at.magic] = magic;
  words[at.version] = version;
  words[at.capacity] = capacityBytes;
  // Each may be sent something before it looks for the first time; what comes by port wakes it.
  words[at.toCaller.parked] = 1;
  return memory;
}
