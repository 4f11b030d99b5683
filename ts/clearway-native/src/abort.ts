// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads and watches the AbortSignal of a caller. A caller may pass any object as its signal. The object's getters and methods may throw,
// may call the plugin again, and may return wrong values.

/**
 * Returns the reason of a signal that has aborted. Returns undefined if it has not aborted. If reading the signal throws, the signal counts
 * as aborted, and the thrown value is the reason. Never throws.
 */
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

// One signal that calls or streams use. The signal gets one listener for all of them, because Node warns of a leak when a signal has more
// than ten listeners.
interface WatchedSignal {
  /** The callbacks of the calls and streams. */
  readonly callbacks: Set<(reason: unknown) => void>;
  /** The listener that was added to the signal. */
  readonly listener: () => void;
}

const watchedSignals = new WeakMap<AbortSignal, WatchedSignal>();

/**
 * Calls `callback` once with the reason when the signal aborts. If the signal has already aborted, calls `callback` at once. If the signal
 * throws, it counts as aborted, and the thrown value is the reason. Returns a function that removes the callback. Further calls of that
 * function do nothing. Neither function throws.
 */
export function onAbort(signal: AbortSignal, callback: (reason: unknown) => void): () => void {
  const aborted = abortOf(signal);
  if (aborted) {
    callback(aborted.reason);
    return () => {};
  }
  let entry = watchedSignals.get(signal);
  if (entry) entry.callbacks.add(callback);
  else entry = watch(signal, callback);
  const { callbacks, listener } = entry;
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0 || watchedSignals.get(signal) !== entry) return;
    watchedSignals.delete(signal);
    removeListener(signal, listener);
  };
}

function watch(signal: AbortSignal, first: (reason: unknown) => void): WatchedSignal {
  const callbacks = new Set([first]);
  const abort = (reason: unknown): void => {
    if (watchedSignals.get(signal) === entry) watchedSignals.delete(signal);
    for (const each of callbacks) {
      callbacks.delete(each);
      try {
        each(reason);
      } catch (error) {
        // An error of one callback must not prevent the calls of the others.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
  const entry: WatchedSignal = { callbacks, listener: () => abort(reasonOf(signal)) };
  // Stores the listener before adding it. If `addEventListener` calls the plugin again, `onAbort` then finds the listener.
  watchedSignals.set(signal, entry);
  try {
    signal.addEventListener("abort", entry.listener, { once: true });
  } catch (reason) {
    abort(reason);
  }
  // If `addEventListener` has called the listener or has thrown, no callback is left. The signal may have added the listener nevertheless,
  // so this removes it.
  if (callbacks.size === 0) removeListener(signal, entry.listener);
  return entry;
}

function removeListener(signal: AbortSignal, listener: () => void): void {
  try {
    signal.removeEventListener("abort", listener);
  } catch {
    // The signal keeps its listener. If the signal aborts later, the listener finds no callback to call.
  }
}
