// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { expectPart, part } from "../lazy/part.js";
import type { TaskDefinition } from "./task.js";

/**
 * A part of the worker's code in its own file: every worker reads the entry at its start, and few workers need every part. Once loaded, the
 * part is available without a turn of the event loop. A failed load rejects with `missing-package` and the import's error as the cause; the
 * next caller tries again.
 */
export class Part<Content> {
  /** The content. Undefined until it is loaded. */
  now: Content | undefined;
  readonly #what: string;
  readonly #import: () => Promise<Content>;
  #load: (() => Promise<Content>) | undefined;

  /** `what` names the part in errors. Does almost nothing, because every worker makes parts at its start that it may not need. */
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

  /** Loads the part in the background. If that fails, the caller that needs it tries again and receives the error. */
  expect(): void {
    expectPart(() => this.load());
  }
}

// Parts that the first call of most modules does not need (spec/decisions/what-a-call-can-do-without-loads-later.md).

/** Streams from tasks and from callers. */
export const streams = new Part("what makes and reads streams", async () => import("./streams.js"));

/** Resources. */
export const leases = new Part("what opens resources", async () => import("../resource/leases.js"));

/** Encoding and decoding of errors. Loaded after the first call, so that a later failure does not depend on the network. */
export const errors = new Part("what takes errors apart", async () => import("../error/wire.js"));

/** The worker's end of the ring. Loaded after the first call, where there is shared memory. */
export const ring = new Part("the ring", async () => import("./worker-ring-port.js"));

/** Loads the parts that these tasks need, in the background. */
export function expectParts(tasks: readonly TaskDefinition[]): void {
  if (tasks.some(({ kind }) => kind === "stream")) streams.expect();
  if (tasks.some(({ resources }) => resources !== undefined)) leases.expect();
}
