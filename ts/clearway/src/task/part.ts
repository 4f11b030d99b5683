// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { expectPart, part } from "../lazy/part.js";

/**
 * A part of the worker's side that stands in a file of its own: every worker reads its entry at its start, few need all of it.
 * What is loaded is at hand from then on, without a turn of the event loop; a load that failed is tried again by the next
 * who needs it, and fails with `missing-package` and the import's error as its cause.
 */
export class Part<Content> {
  /** What is in it; undefined while it is not loaded. */
  now: Content | undefined;
  readonly #what: string;
  readonly #import: () => Promise<Content>;
  #load: (() => Promise<Content>) | undefined;

  /** `what` is said of it in errors. Does next to nothing: every worker makes some at its start that it may not need. */
  constructor(what: string, load: () => Promise<Content>) {
    this.#what = what;
    this.#import = load;
  }

  load(): Promise<Content> {
    this.#load ??= part(
      async () => (this.now = await this.#import()),
      (cause) => caused("missing-package", `${this.#what} could not be loaded`, cause),
    );
    return this.#load();
  }

  /** Loads what will be needed. Where that fails, whoever needs it hears of it. */
  expect(): void {
    expectPart(() => this.load());
  }
}
