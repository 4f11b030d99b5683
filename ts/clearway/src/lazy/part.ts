// SPDX-License-Identifier: MIT OR Apache-2.0

// So long a part may take, at most. Hosts give up on a server that does not answer after minutes, and no call may wait for
// that; a part of some KB that is not there by then will not be. As long as a worker may take to start.
const limitMs = 30_000;

const asItIs = (cause: unknown): unknown => cause;

/**
 * A part of the library that is loaded once, when first asked for. One that could not be loaded, or not in time, is tried
 * again by the next who asks; `explain` says what the load fails with then.
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

/** Loads a part that will be needed soon. Where that fails, whoever needs it tries again, and hears of it. */
export function expectPart(load: () => Promise<unknown>): void {
  load().catch(() => {});
}
