// SPDX-License-Identifier: MIT OR Apache-2.0
import { caused } from "../error/clearway-error.js";
import { expectPart, part } from "../lazy/part.js";
import type { TaskDefinition } from "./task.js";

/**
 * A part of the worker's code that is in its own file. Every worker reads the entry file when it starts, and few workers need every part.
 * Once a part is loaded, it is available without a turn of the event loop. A failed load rejects with `missing-package`, with the import's
 * error as its cause. The next caller tries again.
 */
export class Part<Content> {
  /** The content of the part. Undefined until it is loaded. */
  now: Content | undefined;
  readonly #what: string;
  readonly #import: () => Promise<Content>;
  #load: (() => Promise<Content>) | undefined;

  /**
   * `what` names the part in errors. The constructor does almost nothing, because every worker makes these parts when it starts and may not
   * need them.
   */
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

  /** Loads the part in the background. If the load fails, the caller that needs the part tries again and receives the error. */
  expect(): void {
    expectPart(() => this.load());
  }
}

// The first call of most modules does not need these parts (spec/decisions/what-a-call-can-do-without-loads-later.md).

/** Streams from tasks and from callers. */
export const streams = new Part("what makes and reads streams", async () => import("./streams.js"));

/** The code that opens and closes resources. */
export const leases = new Part("what opens resources", async () => import("../resource/leases.js"));

/** The code that encodes and decodes errors. Loaded after the first call, so that a later failure does not depend on the network. */
export const errors = new Part("what takes errors apart", async () => import("../error/wire.js"));

/** The worker's end of the ring. Loaded after the first call if the host has shared memory. */
export const ring = new Part("the ring", async () => import("./worker-ring-port.js"));

/** Loads in the background the parts that these tasks need. */
export function expectParts(tasks: readonly TaskDefinition[]): void {
  if (tasks.some(({ kind }) => kind === "stream")) streams.expect();
  if (tasks.some(({ resources }) => resources !== undefined)) leases.expect();
}
