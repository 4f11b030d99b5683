// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError, onAbort } from "clearway/remote";
import type { Clock } from "./clock.js";
import type { CallSettings } from "./options/pool.js";

// The stack of an error from a worker has only the frames of the worker. Capturing the caller's stack at every call would cost more than a
// message, although few calls fail. V8 can show later which functions await a promise: if a handler runs because a promise was rejected, its
// stack has `at async …` frames of those functions.

/** Returns a promise and the functions that settle it. A failure receives the frames of the functions that await the promise. */
export function outcome(): { promise: Promise<unknown>; resolve(value: unknown): void; fail(reason: unknown): void } {
  let resolve: (value: unknown) => void = nothing;
  const promise = new Promise<unknown>((settle) => {
    resolve = settle;
  });
  // Rejects one microtask later. By then the caller's promise depends on this one, so V8 can find the functions that await it.
  const fail = (reason: unknown): void =>
    resolve(
      Promise.resolve()
        .then(() => Promise.reject(reason))
        .catch(rethrow),
    );
  return { promise, resolve, fail };
}

const nothing = (): void => {};

const marked = new WeakSet<object>();

/** Marks an error that this package made for one call, so that the frames of its caller may be added to its stack. */
export function own<Reason>(reason: Reason): Reason {
  if (reason instanceof Error) marked.add(reason);
  return reason;
}

function rethrow(reason: unknown): never {
  // An abort reason, or an error that a listener has thrown, belongs to the caller and stays unchanged.
  if (reason instanceof Error && marked.delete(reason)) {
    const trace: { stack?: string } = {};
    Error.captureStackTrace(trace, rethrow);
    const frames = trace.stack?.slice(trace.stack.indexOf("\n") + 1) ?? "";
    if (frames.includes(" at ")) addFrames(reason, frames);
  }
  throw reason;
}

function addFrames(error: Error, frames: string): void {
  try {
    error.stack = `${error.stack}\n    --- called from ---\n${frames}`;
  } catch {
    // The error's stack cannot be changed. The error itself matters more.
  }
}

/** Calls `cancel` when the call's signal aborts, or when its deadline is over. Returns a function that ends this. */
export function armLimits(
  { signal, deadlineMs }: CallSettings,
  clock: Clock,
  cancel: (reason: unknown, code: "cancelled" | "deadline") => void,
): () => void {
  let disarm: (() => void) | undefined;
  if (deadlineMs !== undefined) {
    const why = own(new ClearwayError("deadline", `the call did not end within ${deadlineMs} ms`));
    disarm = clock.after(deadlineMs, () => cancel(why, "deadline"));
  }
  if (signal === undefined) return () => disarm?.();
  const ignore = onAbort(signal, (reason) => cancel(reason, "cancelled"));
  return () => {
    disarm?.();
    ignore();
  };
}
