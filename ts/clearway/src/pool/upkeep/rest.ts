// SPDX-License-Identifier: MIT OR Apache-2.0
import { now } from "#host";
import { Op } from "../../transport/protocol.js";
import type { Slot } from "../slot.js";
import { after, within } from "../timer.js";
import { poolClosed } from "../worker-failure.js";
import type { Workforce } from "../workforce.js";
import { expectRing } from "./ring.js";

// How long a worker may take to close its resources before it is ended in any case.
const closeLimitMs = 5_000;

/** A call left a worker, or it became less busy: it may close, be recycled now, or be shrunk away later. */
export function eased(slot: Slot): void {
  if (slot.tasksRun > 0) expectRing(slot);
  if (slot.life.drained(slot.calls.size) === "close") close(slot);
  // One that closes its resources keeps the process until it is done.
  if (slot.load > 0 || slot.life.state === "closing") return;
  slot.setRef(false);
  // A half-read stream may wait for its reader for long, and nobody else may have to wait for that.
  if (slot.calls.size === 0 && worn(slot)) return retire(slot);
  const { settings, workforce } = slot.engine;
  if (workforce.size <= settings.min || settings.idleMs === Number.POSITIVE_INFINITY) return;
  slot.idleSinceMs = now();
  // One timer at a time, which looks again when it was early: arming one a call would cost more than the call.
  if (!slot.idleTimer) armShrink(slot, settings.idleMs);
}

// Those that are on their way out count no more: several may become superfluous at once.
function staying(workforce: Workforce): number {
  return workforce.count("ready") + workforce.count("starting");
}

function armShrink(slot: Slot, ms: number): void {
  const { settings, workforce } = slot.engine;
  slot.idleTimer = after(ms, () => {
    slot.idleTimer = undefined;
    if (slot.calls.size > 0 || staying(workforce) <= settings.min) return;
    const leftMs = slot.idleSinceMs + settings.idleMs - now();
    // A timer may fire a fraction of a millisecond early.
    if (leftMs > 1) armShrink(slot, leftMs);
    else retire(slot);
  });
  (slot.idleTimer as { unref?(): void }).unref?.();
}

function worn({ engine, tasksRun, heapBytes, startedMs }: Slot): boolean {
  const { tasks, ageMs, heapMb } = engine.settings.recycle;
  if (tasksRun >= tasks || heapBytes >= heapMb * 2 ** 20) return true;
  return ageMs < Number.POSITIVE_INFINITY && now() - startedMs >= ageMs;
}

/** Lets a worker finish what it has, close its resources and end. One that is starting ends at once. */
export function retire(slot: Slot): void {
  const action = slot.life.drain(slot.calls.size);
  if (action === "close") close(slot);
  else if (action === "kill") void slot.kill(poolClosed());
}

/** Does so with all of them. Settles when they are gone, or the time is over. */
export async function retireAll(workforce: Workforce, limitMs: number): Promise<void> {
  for (const slot of workforce) retire(slot);
  await within(Promise.all([...workforce].map((slot) => slot.leaving)), limitMs);
}

// Closes its resources, then ends it; if that takes too long, it is ended in any case.
function close(slot: Slot): void {
  slot.setRef(true);
  const closed = new Promise<void>((resolve) => {
    slot.closed = resolve;
  });
  slot.tell(Op.Close, 0);
  slot.leaving = within(closed, closeLimitMs).then(() => slot.kill(poolClosed()));
}

/** Gives a worker's place to another at once. It goes on with the calls that it has, for as long as they take. */
export function supersede(slot: Slot): void {
  const { workforce } = slot.engine;
  if (workforce.slots[slot.index] !== slot) return;
  workforce.put(slot.index, undefined);
  workforce.outgoing.add(slot);
  workforce.fill();
}
