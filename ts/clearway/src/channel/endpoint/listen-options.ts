// SPDX-License-Identifier: MIT OR Apache-2.0

import { abortSignal, checked, type Rules, type Test, wholeFrom } from "../../error/checked.js";
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

const windowRule: Test = (value) => wholeFrom(value, 1, 0x7fff_ffff);
const serveRules: Rules = { whenFull: policies, capacity: (value) => wholeFrom(value, 1, capacityMax) };
const listenRules: Rules = {
  signal: abortSignal,
  window: { items: windowRule, bytes: windowRule },
  capacity: (value) => wholeFrom(value, 1, capacityMax),
  whenFull: policies,
  onDrop: "function",
};

/** The options of a listener with a complete window. */
export interface ListenSettings extends ListenOptions {
  readonly window: Window;
}

const defaultListen: ListenSettings = { window: defaultWindow };

/** Checks the options and fills in the window. Throws `invalid-argument`. */
export function listenSettings(options: ListenOptions | undefined): ListenSettings {
  if (options === undefined) return defaultListen;
  return checked(options, listenRules, defaultListen) as ListenSettings;
}

/** Checks the options and returns the complete limits. Throws `invalid-argument`. */
export function serveSettings(options: ServeOptions): QueueLimits {
  return checked(options, serveRules, { capacity: capacityDefault, whenFull: "wait" }) as QueueLimits;
}

/** Returns a policy's number on the wire. 0 leaves the choice to the other end. */
export function policyNumber(whenFull: WhenFull | undefined): number {
  return whenFull === undefined ? 0 : policies.indexOf(whenFull) + 1;
}

/** Returns the limits that the listener asked for. Limits that it left open have this end's values. */
export function limitsFor(requested: { capacity: number; policy: number }, own: QueueLimits): QueueLimits {
  return { capacity: requested.capacity || own.capacity, whenFull: policies[requested.policy - 1] ?? own.whenFull };
}
