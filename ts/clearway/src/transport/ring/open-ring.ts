// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages, cores } from "#host";
import type { Endpoint } from "../../host/host.js";
import type { Op } from "../protocol.js";
import { at, capacityBytes, headerBytes, magic, version } from "./layout.js";
import { Poller } from "./poller.js";
import { type LaneOwner, RingLane } from "./ring-lane.js";

// The caller's side of the ring. Loaded lazily: what a pool without shared memory never needs costs it nothing.

/** What a caller's lane asks of its pool. */
export interface CallerOwner extends LaneOwner {
  /** Whether anything is expected of the worker. */
  expects(): boolean;
}

const poller = new Poller({ now: () => performance.now(), afterTurn: afterMessages });

// The lanes of this thread, oldest first. So many of their workers may wait awake that each has a core, and this thread one
// too; the rest sleep at once when they have nothing to do.
const open: CallerLane[] = [];

function allot(): void {
  const may = cores() - 1;
  // Read alone, by `RingLane.maySpin`; nothing else depends on when it is seen.
  for (const [index, lane] of open.entries()) lane.allow(index < may);
}

/** The caller's end of one worker's rings. */
export class CallerLane extends RingLane {
  readonly #poll: { sent(): void; woken(): void };
  readonly #owner: CallerOwner;
  #closed = false;

  constructor(
    readonly memory: SharedArrayBuffer,
    endpoint: Endpoint,
    owner: CallerOwner,
  ) {
    super(memory, "caller", endpoint, owner);
    this.#owner = owner;
    this.#poll = poller.add(this);
    open.push(this);
    allot();
  }

  override send(op: Op, id: number, a: unknown, b: unknown): boolean {
    if (!super.send(op, id, a, b)) return false;
    this.#poll.sent();
    return true;
  }

  override post(message: unknown, transfer: readonly object[]): void {
    super.post(message, transfer);
    this.#poll.sent();
  }

  override receive(message: unknown): void {
    super.receive(message);
    if (!this.#closed) this.#poll.woken();
  }

  expects(): boolean {
    return !this.#closed && this.#owner.expects();
  }

  allow(on: boolean): void {
    Atomics.store(this.words, at.spin, on ? 1 : 0);
  }

  /** The worker is gone: reads what it had published, up to a message that it did not come to post. */
  close(): void {
    this.drain();
    this.#closed = true;
    open.splice(open.indexOf(this), 1);
    allot();
  }
}

/** Allocates a worker's rings and opens the caller's end. The worker is sent `memory`, by port, before anything else. */
export function openRing(endpoint: Endpoint, owner: CallerOwner): CallerLane {
  const memory = new SharedArrayBuffer(headerBytes + 2 * capacityBytes);
  const words = new Int32Array(memory);
  words[at.magic] = magic;
  words[at.version] = version;
  words[at.capacity] = capacityBytes;
  // The worker may answer what came to it by port before this side looks for the first time.
  words[at.toCaller.parked] = 1;
  return new CallerLane(memory, endpoint, owner);
}
