// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../../error/clearway-error.js";
import { defaultWindow, type Window } from "../../stream/credit.js";
import type { QueueLimits, WhenFull } from "./source-queue.js";

/** How events are read. */
export interface ListenOptions {
  /** Ends the stream, there too; reading rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How far the other end may run ahead of the reader; default 16 events and 1 MiB. */
  readonly window?: Partial<Window>;
  /** How many pushed events wait at the other end when the window is used up; default what that end says, else 16. */
  readonly capacity?: number;
  /** What happens there when as many wait; default what the other end says, else "wait". */
  readonly whenFull?: WhenFull;
  /** Told how many events were dropped, when the one behind them is read. */
  readonly onDrop?: (count: number) => void;
}

/** How pushed events are queued for a listener that does not say how itself. */
export interface ServeOptions {
  /** What happens when as many wait; default "wait". */
  readonly whenFull?: WhenFull;
  /** How many wait when the listener's window is used up: 1 to 65,535, default 16. What an iterable gives is not drawn before. */
  readonly capacity?: number;
}

const policies: readonly WhenFull[] = ["wait", "fail", "dropOldest", "dropNewest"];
const capacityMax = 0xffff;
const capacityDefault = 16;

/**
 * Options for a reader that wants what is newest, such as frames to be drawn: of events that are pushed faster than they are read
 * all but the last are dropped; an iterable is asked for the next one only then. One is under way or waits here; with a window
 * of 2 the next one is under way while one is read.
 */
export function latest(window = 1): ListenOptions {
  return { window: { items: window }, capacity: 1, whenFull: "dropOldest" };
}

/** The window, complete. Throws `invalid-argument`. */
export function checkListen({ window = {}, capacity, whenFull }: ListenOptions): Window {
  const { items = defaultWindow.items, bytes = defaultWindow.bytes } = window;
  for (const [name, value] of Object.entries({ items, bytes }))
    if (!(Number.isInteger(value) && value >= 1 && value <= 0x7fff_ffff))
      throw invalid(`window.${name}`, "a whole number from 1 to 2147483647", value);
  checkServe({ ...(capacity !== undefined && { capacity }), ...(whenFull !== undefined && { whenFull }) });
  return { items, bytes };
}

/** Throws `invalid-argument`. */
export function checkServe({ capacity = capacityDefault, whenFull = "wait" }: ServeOptions): QueueLimits {
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= capacityMax))
    throw invalid("capacity", `a whole number from 1 to ${capacityMax}`, capacity);
  if (!policies.includes(whenFull)) throw invalid("whenFull", policies.join(", "), whenFull);
  return { capacity, whenFull };
}

/** A policy as a number of the wire: 0 is "what the other end says". */
export function policyNumber(whenFull: WhenFull | undefined): number {
  return whenFull === undefined ? 0 : policies.indexOf(whenFull) + 1;
}

/** What the listener asked for, and where it did not, what this end says. */
export function limitsFor(asked: { capacity: number; policy: number }, own: QueueLimits): QueueLimits {
  return { capacity: asked.capacity || own.capacity, whenFull: policies[asked.policy - 1] ?? own.whenFull };
}
