// SPDX-License-Identifier: MIT OR Apache-2.0
// One listener per signal. All calls and streams of a signal share it, because Node warns of a leak from the eleventh listener on.

interface Watched {
  readonly told: Set<() => void>;
  readonly listener: () => void;
}

const watched = new WeakMap<AbortSignal, Watched>();

/** Calls `told` once when the signal is aborted. Returns a function that removes the callback; further calls of it do nothing. */
export function onAbort(signal: AbortSignal, told: () => void): () => void {
  const found = watched.get(signal) ?? watch(signal);
  found.told.add(told);
  return () => {
    if (!found.told.delete(told) || found.told.size > 0) return;
    watched.delete(signal);
    signal.removeEventListener("abort", found.listener);
  };
}

function watch(signal: AbortSignal): Watched {
  const told = new Set<() => void>();
  const listener = (): void => {
    watched.delete(signal);
    const all = [...told];
    told.clear();
    for (const each of all) {
      try {
        each();
      } catch (error) {
        // An error of one callback must not stop the others.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
  signal.addEventListener("abort", listener, { once: true });
  const made = { told, listener };
  watched.set(signal, made);
  return made;
}
