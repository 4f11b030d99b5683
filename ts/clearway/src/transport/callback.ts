// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WireError } from "../error/wire.js";
import type { Form } from "../transfer/crossing.js";
import type { LedgerSide } from "../transfer/ledger.js";

// The messages of a callback, in slot `a` of a Chunk whose id is that of the callback's Input.

/**
 * A task's call of a callback: its number, which counts the calls of this callback from 1, and its arguments. For a method of a proxy, the
 * first argument is the index of its name. `forms` are those of the arguments, unless all are plain.
 */
export type CallbackCall = readonly [call: number, args: readonly unknown[], forms?: readonly Form[]];

/** The answer to a call: its number, and the value or the error. */
export type CallbackAnswer = readonly [call: number, value: unknown, error?: WireError, form?: Form];

/** The key of a function under `callback()`, and of an object under `proxy()`. The iterator of such an argument holds its {@link CallbackEnd} under the same key. */
export const callbackKey = Symbol.for("clearway.callback");

/** What the caller's end of a callback needs from its pool. */
export interface CallbackWire {
  readonly strict: boolean;
  /** Whether the worker is a child process. Never true in browsers. */
  readonly toProcess?: boolean | undefined;
  /** The ledger of what goes to workers. */
  readonly ledger: LedgerSide;
  /** Sends an answer to the task, and moves the objects in `transfer`. */
  answer(message: CallbackAnswer, transfer: readonly object[]): void;
  /** Fails the call that the callback belongs to. */
  fail(reason: unknown): void;
}

/** The caller's end of a callback. The entry `clearway/callback` implements it, and the pool treats it as an input stream. */
export interface CallbackEnd {
  /** Maximum number of calls without an answer. */
  readonly concurrency: number;
  /** The names of an object's methods. Undefined for a function. */
  readonly methods?: readonly string[] | undefined;
  /** Whether the task waits for an answer. */
  readonly asked: boolean;
  /** Connects this end with the worker that receives the call. A call that its worker has not begun may go to another worker. */
  connect(wire: CallbackWire): void;
  /** Handles a message from the task. Never throws. */
  called(message: unknown): void;
  /** Handles an answer that could not be sent. */
  refuse(message: unknown, reason: unknown): void;
  /** The part of an input stream that a callback has. It needs no credit. `stop` ends it, because its call is over. */
  readonly producer: { grant(): void; stop(): void };
}

/** Returns whether an argument is under `callback()` or `proxy()`. */
export function isCallback(value: object): boolean {
  return callbackKey in value;
}

/** Returns the caller's end of a callback. Returns undefined for the iterator of a stream. */
export function callbackEnd(iterator: object): CallbackEnd | undefined {
  try {
    const end = (iterator as { [callbackKey]?: CallbackEnd })[callbackKey];
    // A Proxy of the app may answer any key.
    return typeof end?.connect === "function" ? end : undefined;
  } catch {
    // The iterator is the app's own, so it is a stream. Its `next()` reports the error when the task reads.
    return undefined;
  }
}
