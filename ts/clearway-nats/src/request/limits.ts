// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "clearway/remote";
import type { CallSettings } from "../options/pool.js";
import type { Clock } from "./clock.js";
import { own } from "./outcome.js";

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

/**
 * Calls `cancel` with the signal's reason when it aborts, and at once if it has aborted. Returns a function that ends this and never throws.
 * The signal is foreign code: a signal that throws counts as aborted, with that error as its reason.
 */
export function onAbort(signal: AbortSignal, cancel: (reason: unknown) => void): () => void {
  const abort = (): void => cancel(reasonOf(signal));
  try {
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  } catch (reason) {
    cancel(reason);
  }
  return () => {
    try {
      signal.removeEventListener("abort", abort);
    } catch {
      // An event that still arrives finds a call that has ended.
    }
  };
}

function reasonOf(signal: AbortSignal): unknown {
  try {
    return signal.reason;
  } catch (thrown) {
    return thrown;
  }
}
