// SPDX-License-Identifier: MIT OR Apache-2.0

import { notLoaded } from "../error/not-loaded.js";
import { OwnPromise } from "../globals.js";
import { lazyModule, preload } from "../lazy/lazy-module.js";
import type { TaskDefinition } from "./task.js";

interface Loads {
  /** The loads that have not ended. */
  readonly open: Set<Promise<unknown>>;
  /** Whether the worker is ending, so that nothing is loaded in advance. */
  ending: boolean;
}

// The files of the build have copies of this module. All copies of a thread share what they load.
function loads(): Loads {
  const scope = globalThis as { [name: symbol]: Loads | undefined };
  const name = Symbol.for("clearway.loads");
  scope[name] ??= { open: new Set(), ending: false };
  return scope[name];
}

// Node 20 leaves a file open that a thread reads when it ends.
async function counted<Exports>(loading: Promise<Exports>): Promise<Exports> {
  const { open } = loads();
  open.add(loading);
  try {
    return await loading;
  } finally {
    open.delete(loading);
  }
}

/** Settles when no lazy module is being loaded. Called before a worker of Node ends. */
export async function lazyLoads(): Promise<void> {
  const all = loads();
  all.ending = true;
  while (all.open.size > 0) await OwnPromise.allSettled(all.open);
}

/**
 * A module of the worker's code that is in its own file. Every worker reads the entry file when it starts, and few workers need every lazy
 * module. Once a lazy module is loaded, its exports are available without a turn of the event loop. A failed load rejects with
 * `missing-package`, with the import's error as its cause. The next caller tries again.
 */
export class LazyModule<Exports> {
  /** What the module exports. Undefined until the module is loaded. */
  exports: Exports | undefined;
  readonly #what: string;
  readonly #import: () => Promise<Exports>;
  #load: (() => Promise<Exports>) | undefined;

  /**
   * `what` names the module in errors. The constructor does almost nothing, because every worker makes these objects when it starts and may
   * not need the modules.
   */
  constructor(what: string, load: () => Promise<Exports>) {
    this.#what = what;
    this.#import = load;
  }

  load(): Promise<Exports> {
    this.#load ??= lazyModule(
      async () => {
        const loading = this.#import();
        this.exports = await (hasProcesses ? counted(loading) : loading);
        return this.exports;
      },
      (cause) => notLoaded(this.#what, cause),
    );
    return this.#load();
  }

  /** Loads the module in the background. If the load fails, the caller that needs the module tries again and receives the error. */
  preload(): void {
    if (!hasProcesses || !loads().ending) preload(() => this.load());
  }
}

// The first call of most task modules does not need these lazy modules (spec/decisions/rarely-needed-code-loads-later.md).

/** Streams from tasks and from callers. */
export const streams = new LazyModule("the code of streams", async () => import("./streams.js"));

/** The code that opens and closes resources. */
export const leases = new LazyModule("the code of resources", async () => import("../resource/leases.js"));

/** The code that encodes and decodes errors. Loaded after the first call, so that a later failure does not depend on the network. */
export const errors = new LazyModule("the code that encodes errors", async () => import("../transfer/thrown.js"));

/** The worker's end of the ring. Loaded after the first call if the host has shared memory. */
export const ring = new LazyModule("the ring", async () => import("./worker-ring-port.js"));

/** Loads in the background the lazy modules that these tasks need. */
export function preloadFor(tasks: readonly TaskDefinition[]): void {
  if (tasks.some(({ kind }) => kind === "stream")) streams.preload();
  if (tasks.some(({ resources }) => resources !== undefined)) leases.preload();
}
