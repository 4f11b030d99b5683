// SPDX-License-Identifier: MIT OR Apache-2.0

/** A part of the library that is loaded once, when first asked for; one that could not be loaded is tried again. */
export function part<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let loaded: Promise<Part> | undefined;
  return () => {
    loaded ??= load().catch((reason) => {
      loaded = undefined;
      throw reason;
    });
    return loaded;
  };
}

/** Loads a part that will be needed soon. Where that fails, whoever needs it tries again, and hears of it. */
export function expectPart(load: () => Promise<unknown>): void {
  load().catch(() => {});
}
