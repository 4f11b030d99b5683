// SPDX-License-Identifier: MIT OR Apache-2.0

import { clearTimeout, OwnPromise, setTimeout } from "../globals.js";

// Time limit for loading a lazy module, in milliseconds; the same as the default limit of a worker's start. Browsers wait minutes for a
// server that does not answer, and no call may wait that long. A lazy module has a few KB. If it has not arrived within the limit, it will
// not arrive.
const limitMs = 30_000;

const asItIs = (cause: unknown): unknown => cause;

/**
 * Returns a function that loads a lazy module at its first call. A lazy module is a file of the library that only some apps or calls need.
 *
 * Loads the module once. If a load fails or takes too long, the next call tries again. `explain` converts the error of a failed load.
 */
export function lazyModule<Exports>(load: () => Promise<Exports>, explain = asItIs): () => Promise<Exports> {
  let loading: Promise<Exports> | undefined;
  return () => {
    loading ??= new OwnPromise<Exports>((resolve, reject) => {
      const fail = (cause: unknown): void => {
        loading = undefined;
        reject(explain(cause));
      };
      const timer = setTimeout(() => fail(new Error(`it was not loaded within ${limitMs} ms`)), limitMs);
      void load()
        .then(resolve, fail)
        .finally(() => clearTimeout(timer));
    });
    return loading;
  };
}

/** Loads a lazy module in the background. Ignores errors: the caller that needs the module loads it again and receives the error. */
export function preload(load: () => Promise<unknown>): void {
  load().catch(() => {});
}
