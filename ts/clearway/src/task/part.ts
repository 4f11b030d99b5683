// SPDX-License-Identifier: MIT OR Apache-2.0

import { caused } from "../error/clearway-error.js";

// So long a part may take, at most: as in the pool (`pool/part.ts`).
const limitMs = 30_000;

/**
 * A part of the worker's side that stands in a file of its own: every worker reads its entry at its start, few need all of it.
 * What is loaded is at hand from then on, without a turn of the event loop; a load that failed is tried again by the next
 * who needs it, and fails with `missing-package` and the import's error as its cause.
 */
export class Part<Content> {
  /** What is in it; undefined while it is not loaded. */
  now: Content | undefined;
  readonly #import: () => Promise<Content>;
  #loading: Promise<Content> | undefined;

  /** `what` is said of it in errors. */
  constructor(
    readonly what: string,
    load: () => Promise<Content>,
  ) {
    this.#import = load;
  }

  load(): Promise<Content> {
    this.#loading ??= new Promise<Content>((resolve, reject) => {
      const done = (content: Content): void => {
        this.now = content;
        resolve(content);
      };
      const fail = (cause: unknown): void => {
        this.#loading = undefined;
        reject(caused("missing-package", `${this.what} could not be loaded`, cause));
      };
      const timer = setTimeout(fail, limitMs, new Error(`it was not loaded within ${limitMs} ms`));
      void this.#import()
        .then(done, fail)
        .finally(() => clearTimeout(timer));
    });
    return this.#loading;
  }

  /** Loads what will be needed. Where that fails, whoever needs it hears of it. */
  expect(): void {
    this.load().catch(() => {});
  }
}
