// SPDX-License-Identifier: MIT OR Apache-2.0
import { after } from "./timer.js";

// So long a part may take, at most. Hosts give up on a server that does not answer after minutes, and no call may wait for
// that; a part of some KB that is not there by then will not be. As long as a worker may take to start.
const limitMs = 30_000;

/** A part of the library that is loaded once, when first asked for; one that could not be loaded is tried again. */
export function part<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loaded: Promise<Part> | undefined;
  return () => {
    loaded ??= new Promise<Part>((resolve, reject) => {
      const fail = (reason: unknown): void => {
        loaded = undefined;
        reject(reason);
      };
      const timer = after(limitMs, () => fail(new Error(`it was not loaded within ${limitMs} ms`)));
      void load()
        .then(resolve, fail)
        .finally(() => clearTimeout(timer));
    });
    return loaded;
  };
}

/** Loads a part that will be needed soon. Where that fails, whoever needs it tries again, and hears of it. */
export function expectPart(load: () => Promise<unknown>): void {
  load().catch(() => {});
}
