// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { expectPart, part } from "../lazy/part.js";
import type { TaskDefinition } from "./task.js";

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

// What the first call of most modules can do without (spec/decisions/what-a-call-can-do-without-loads-later.md).

/** Tasks that yield, and streams from callers. */
export const streams = new Part("what makes and reads streams", async () => import("./streams.js"));

/** Resources. */
export const leases = new Part("what opens resources", async () => import("../resource/leases.js"));

/** Errors as they cross. Asked for behind the first call, so that a failure later does not depend on the network. */
export const errors = new Part("what takes errors apart", async () => import("../error/wire.js"));

/** The worker's end of the ring. Asked for behind the first call, where there is shared memory. */
export const ring = new Part("the ring", async () => import("./ring-end.js"));

/** Asks for the parts that these tasks will need. */
export function expectParts(tasks: readonly TaskDefinition[]): void {
  if (tasks.some(({ kind }) => kind === "stream")) streams.expect();
  if (tasks.some(({ resources }) => resources !== undefined)) leases.expect();
}
