// SPDX-License-Identifier: MIT OR Apache-2.0
// A caller's signal may be any object: its getters and methods may throw, call back into the plugin, or lie.

import { invalid } from "./error.js";

/** Throws `invalid-argument` for anything but an AbortSignal and undefined. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function")
    throw invalid("signal", "an AbortSignal", signal);
}

/** Returns the reason of a signal that has aborted, else undefined. A signal that cannot be read counts as aborted. Never throws. */
export function abortOf(signal: AbortSignal | undefined): { reason: unknown } | undefined {
  try {
    return signal?.aborted ? { reason: reasonOf(signal) } : undefined;
  } catch (reason) {
    return { reason };
  }
}

function reasonOf(signal: AbortSignal): unknown {
  try {
    return signal.reason;
  } catch (thrown) {
    return thrown;
  }
}

// One listener per signal, however many calls and streams share it: Node warns of a leak from the eleventh listener on.
interface Watched {
  readonly told: Set<(reason: unknown) => void>;
  readonly listener: () => void;
}

const watched = new WeakMap<AbortSignal, Watched>();

/**
 * Calls `told` once with the reason when the signal aborts, or at once if it has aborted. A signal that throws counts as aborted, with
 * what it threw. Returns a function that cancels this; calling it again does nothing. Neither function throws.
 */
export function onAbort(signal: AbortSignal, told: (reason: unknown) => void): () => void {
  const aborted = abortOf(signal);
  if (aborted) {
    told(aborted.reason);
    return () => {};
  }
  let own = watched.get(signal);
  if (own) own.told.add(told);
  else own = watch(signal, told);
  const { told: all, listener } = own;
  return () => {
    if (!all.delete(told) || all.size > 0 || watched.get(signal) !== own) return;
    watched.delete(signal);
    unlisten(signal, listener);
  };
}

function watch(signal: AbortSignal, first: (reason: unknown) => void): Watched {
  const told = new Set([first]);
  const abort = (reason: unknown): void => {
    if (watched.get(signal) === made) watched.delete(signal);
    for (const each of told) {
      told.delete(each);
      try {
        each(reason);
      } catch (error) {
        // An error of one callback must not stop the others.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
  const made: Watched = { told, listener: () => abort(reasonOf(signal)) };
  // First, so that a signal which calls back into the plugin finds its listener.
  watched.set(signal, made);
  try {
    signal.addEventListener("abort", made.listener, { once: true });
  } catch (reason) {
    abort(reason);
  }
  // The signal may have called the listener, or thrown, after it added it.
  if (told.size === 0) unlisten(signal, made.listener);
  return made;
}

function unlisten(signal: AbortSignal, listener: () => void): void {
  try {
    signal.removeEventListener("abort", listener);
  } catch {
    // An event that still arrives finds nothing to call.
  }
}
