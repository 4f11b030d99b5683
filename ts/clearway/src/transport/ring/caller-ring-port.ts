// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterMessages, cores } from "#host";
import { clock } from "../../globals.js";
import type { Endpoint } from "../../host/host.js";
import { callFlagBits, coded, frameSlots, Op } from "../protocol.js";
import { at } from "./layout.js";
import { Poller } from "./poller.js";
import { ringMemory } from "./ring.js";
import { RingPort, type RingPortOwner } from "./ring-port.js";

// The caller's end of the ring. This file is loaded lazily, so that a pool without shared memory does not pay for it.

/** What a caller's ring needs from its pool. */
interface CallerOwner extends RingPortOwner {
  /** The worker's open calls. */
  readonly calls: { readonly size: number };
  /** Whether the answer to a call may arrive while the poller polls. False if every run of the call's task took longer than that. */
  expectsSoon(id: number): boolean;
}

const poller = new Poller({ now: () => clock(), afterTurn: afterMessages });

// The rings of this thread, oldest first. At most `cores() - 1` workers may spin, because this thread needs a core. The other workers
// sleep as soon as they are idle.
const openRings: CallerRingPort[] = [];

function allotSpinning(): void {
  const spinnersMax = cores() - 1;
  for (const [index, ring] of openRings.entries()) ring.allowSpin(index < spinnersMax);
}

/** The caller's end of one worker's rings. */
export class CallerRingPort extends RingPort {
  readonly #poll: { sent(alone?: boolean): void; woken(): void };
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
    openRings.push(this);
    allotSpinning();
  }

  override send(op: Op, id: number, a: unknown, b: unknown): boolean {
    if (!super.send(op, id, a, b)) return false;
    if (this.#answersSoon(op, id)) this.#poll.sent(op === Op.Call && this.#owner.calls.size === 1 && isPlain(a));
    return true;
  }

  override post(message: unknown, transfer: readonly object[]): void {
    super.post(message, transfer);
    const frames = message as unknown[];
    for (let at = 0; at < frames.length; at += frameSlots) {
      if (this.#answersSoon(frames[at] as Op, frames[at + 1] as number)) return this.#poll.sent();
    }
  }

  override receive(message: unknown): void {
    super.receive(message);
    if (!this.#closed) this.#poll.woken();
  }

  expects(): boolean {
    return !this.#closed && this.#owner.calls.size > 0;
  }

  // Without this check, the poller would poll for an answer that cannot have arrived yet. Polling keeps a core busy that the worker may
  // need to start. When both threads were on one core, the scheduler then gave the worker a whole time slice: 3.5 ms in which this thread
  // could not answer.
  #answersSoon(op: Op, id: number): boolean {
    return (op & ~coded) !== Op.Call || this.#owner.expectsSoon(id);
  }

  allowSpin(on: boolean): void {
    // Pairs with the load in `RingPort.maySpin`. No other memory depends on this store, so a worker may see the change late.
    Atomics.store(this.words, at.spin, on ? 1 : 0);
  }

  /** Closes the ring of a dead worker. First reads the frames that the worker published, up to a mark whose message did not arrive. */
  close(): void {
    this.drain();
    this.#closed = true;
    const index = openRings.indexOf(this);
    if (index >= 0) openRings.splice(index, 1);
    allotSpinning();
  }
}

// Returns whether a call has no flags. The answer to such a call settles a promise and runs no other code of the caller.
function isPlain(taskAndFlags: unknown): boolean {
  return ((taskAndFlags as number) & ((1 << callFlagBits) - 1)) === 0;
}

/** Allocates a worker's rings and opens the caller's end. The owner must send `memory` to the worker by port before any other message. */
export function openRing(endpoint: Endpoint, owner: CallerOwner): CallerRingPort {
  return new CallerRingPort(ringMemory(), endpoint, owner);
}
