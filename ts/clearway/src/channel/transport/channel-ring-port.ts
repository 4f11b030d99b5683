// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages } from "#host";
import { Op } from "../../transport/protocol.js";
import { at, capacityBytes, headerBytes, magic, version } from "../../transport/ring/layout.js";
import { Poller } from "../../transport/ring/poller.js";
import { RingPort } from "../../transport/ring/ring-port.js";

// The ring of a port's channel (`spec/ring.md`), with two kinds of frames. A chunk is a channel's frame; its id is 1 when the sender asks
// the receiver to report what it took. A credit is that report. This module is loaded on first use.

/** Receives what arrives through the ring, and posts through the port. */
export interface ChannelRingPortOwner {
  /** Posts a message through the port. Throws what the port throws. */
  post(message: unknown[], transfer: readonly object[]): void;
  /** A message of the port, in its place among the frames. */
  message(message: unknown[]): void;
  frame(frame: Uint8Array, asks: boolean): void;
  taken(bytes: number): void;
  broken(what: string): void;
}

// Hot rings are polled once per turn: `transport/ring/poller.ts`.
const poller = new Poller({ now: () => performance.now(), afterTurn: afterMessages });

// RingPort's messages are flat arrays of frames, with four slots per frame.
const slots = 4;

/** One end of a pair of rings. It reads its ring between its own turns, and sleeps when nothing arrives. */
export class ChannelRingPort extends RingPort {
  readonly #poll: { sent(): void; woken(): void };
  #closed = false;

  /** Throws `protocol` when `memory` is no ring of this version. */
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

  /** Sends a small frame, copying it. Returns false when the frame has to go through the port. */
  offer(frame: Uint8Array, asks: boolean): boolean {
    if (!this.send(Op.Chunk, asks ? 1 : 0, frame, undefined)) return false;
    this.#poll.sent();
    return true;
  }

  /** Reports bytes taken. Returns false when the report has to go through the port. */
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

  /** For the poller: an open end that has sent or received may expect more. */
  expects(): boolean {
    return !this.#closed;
  }

  close(): void {
    this.#closed = true;
  }
}

/** Returns memory for two rings, initialized by the end that offers it. */
export function ringMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(headerBytes + 2 * capacityBytes);
  const words = new Int32Array(memory);
  words[at.magic] = magic;
  words[at.version] = version;
  words[at.capacity] = capacityBytes;
  // The worker may send before the caller first reads its ring. The caller therefore starts as parked, and a message through the port
  // wakes it.
  words[at.toCaller.parked] = 1;
  return memory;
}
