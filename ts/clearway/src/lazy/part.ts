// SPDX-License-Identifier: MIT OR Apache-2.0

// Longest time for loading a part. Browsers wait minutes for a server that does not answer, and no call may wait that long. A part of
// some KB that has not arrived by then will not arrive. The limit equals that of a worker's start.
const limitMs = 30_000;

const asItIs = (cause: unknown): unknown => cause;

/**
 * Returns a loader for a part of the library. The part is loaded once, at its first use.
 *
 * If a load fails or takes too long, the next caller tries again. `explain` returns the error for the failed load.
 */
export function part<Content>(load: () => Promise<Content>, explain = asItIs): () => Promise<Content> {
  let loading: Promise<Content> | undefined;
  return () => {
    loading ??= new Promise<Content>((resolve, reject) => {
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

/** Preloads a part that will be needed soon. If this fails, the caller that needs the part loads it again and receives the error. */
export function expectPart(load: () => Promise<unknown>): void {
  load().catch(() => {});
}
