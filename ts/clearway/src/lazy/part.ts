// SPDX-License-Identifier: MIT OR Apache-2.0

// Time limit for loading a part, in milliseconds; the same as the default limit of a worker's start. Browsers wait minutes for a server
// that does not answer, and no call may wait that long. A part has a few KB. If it has not arrived within the limit, it will not arrive.
const limitMs = 30_000;

const asItIs = (cause: unknown): unknown => cause;

/**
 * Returns a function that loads a part of the library at its first call. A part is a module that only some apps or calls need.
 *
 * Loads the part once. If a load fails or takes too long, the next call tries again. `explain` converts the error of a failed load.
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

/** Preloads a part that will be needed soon. Ignores errors: the caller that needs the part loads it again and receives the error. */
export function expectPart(load: () => Promise<unknown>): void {
  load().catch(() => {});
}
