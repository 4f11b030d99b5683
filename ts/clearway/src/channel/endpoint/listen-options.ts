// SPDX-License-Identifier: MIT OR Apache-2.0

import { invalid } from "../../error/clearway-error.js";
import { checkSignal } from "../../error/read-signal.js";
import { defaultWindow, type Window } from "../../stream/credit.js";
import type { QueueLimits, WhenFull } from "./source-queue.js";

/** Options of a listener. */
export interface ListenOptions {
  /** Ends the stream at both ends when it aborts. Reading rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of events and of bytes that the other end may send ahead of the reader. Default: 16 events and 1 MiB. */
  readonly window?: Partial<Window>;
  /**
   * Number of pushed events that may wait at the other end when the window is used up. Default: the other end's setting, else
   * 16.
   */
  readonly capacity?: number;
  /** Policy of the other end's queue when it is full. Default: the other end's setting, else "wait". */
  readonly whenFull?: WhenFull;
  /** Called with the number of dropped events when the next event, or the end of the stream, is read. */
  readonly onDrop?: (count: number) => void;
}

/** Settings of the queue of pushed events, for listeners that do not set their own. */
export interface ServeOptions {
  /** Policy of a full queue. Default: "wait". */
  readonly whenFull?: WhenFull;
  /**
   * Number of events that may wait when the listener's window is used up: 1 to 65,535. Default: 16. Values of an iterable do
   * not wait in this queue.
   */
  readonly capacity?: number;
}

const policies: readonly WhenFull[] = ["wait", "fail", "dropOldest", "dropNewest"];
const capacityMax = 0xffff;
const capacityDefault = 16;

/**
 * Returns options for a reader that wants only the newest event, such as the next frame to draw. If events are pushed faster
 * than they are read, the other end keeps only the newest one. The next value of an iterable is requested only when the reader
 * is ready for it. With a window of 1, one event is in flight or waits at the reader. With a window of 2, the next event is in
 * flight while the reader reads one.
 */
export function latest(window = 1): ListenOptions {
  return { window: { items: window }, capacity: 1, whenFull: "dropOldest" };
}

/** Checks the options and returns the complete window. Throws `invalid-argument`. */
export function checkListen({ signal, window = {}, capacity, whenFull }: ListenOptions): Window {
  checkSignal(signal);
  const { items = defaultWindow.items, bytes = defaultWindow.bytes } = window;
  for (const [name, value] of Object.entries({ items, bytes }))
    if (!(Number.isInteger(value) && value >= 1 && value <= 0x7fff_ffff))
      throw invalid(`window.${name}`, "a whole number from 1 to 2147483647", value);
  checkServe({ ...(capacity !== undefined && { capacity }), ...(whenFull !== undefined && { whenFull }) });
  return { items, bytes };
}

/** Checks the options and returns the complete limits. Throws `invalid-argument`. */
export function checkServe({ capacity = capacityDefault, whenFull = "wait" }: ServeOptions): QueueLimits {
  if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= capacityMax))
    throw invalid("capacity", `a whole number from 1 to ${capacityMax}`, capacity);
  if (!policies.includes(whenFull)) throw invalid("whenFull", policies.join(", "), whenFull);
  return { capacity, whenFull };
}

/** Returns a policy's number on the wire. 0 leaves the choice to the other end. */
export function policyNumber(whenFull: WhenFull | undefined): number {
  return whenFull === undefined ? 0 : policies.indexOf(whenFull) + 1;
}

/** Returns the limits that the listener asked for. Limits that it left open have this end's values. */
export function limitsFor(requested: { capacity: number; policy: number }, own: QueueLimits): QueueLimits {
  return { capacity: requested.capacity || own.capacity, whenFull: policies[requested.policy - 1] ?? own.whenFull };
}
