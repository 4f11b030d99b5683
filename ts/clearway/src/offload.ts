// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Runs one function in a worker, without a task module: `await offload((n: number) => countPrimes(n), 1_000_000)`. A build plugin of the
 * package `clearway-build` moves the function to a file of its own. Without the plugin, `offload` refuses every function.
 *
 * @module clearway/offload
 */

import { checked, type Rules } from "./error/checked.js";
import { ClearwayError, invalid } from "./error/clearway-error.js";
import { OwnPromise } from "./globals.js";
import { tagOf } from "./host/structure.js";
import { type CallOptions, type Pool, pool } from "./index.js";
import { BuiltTask, type OffloadTasks, ownRegistry, type TaskPlace } from "./offload/built-task.js";
import { callRules } from "./pool/options.js";
import type { Answer, Argument } from "./task/task.js";

export type { TaskPlace } from "./offload/built-task.js";

/** Options of offloaded calls: `offload.with(options)(fn)`. They mean the same as the options of a pool's calls. */
export type OffloadOptions = Pick<
  CallOptions,
  "signal" | "timeoutMs" | "deadlineMs" | "key" | "priority" | "strict" | "window" | "retries"
>;

/**
 * Calls a function in a worker of the shared pool. Returns its result: a promise, or a stream if `fn` is a generator that is written in the
 * call.
 *
 * `fn` is a function that is written in the call, or an imported one that is no generator: a call of an imported generator rejects with
 * `not-cloneable`. Its arguments, the variables that it captures and its result cross by structured clone. Memory in the result moves. An
 * argument under `move()` moves. Captured variables are copied when the call is made; the function may not assign to them.
 *
 * Rejects with the function's own error, with the signal's reason, or with a `ClearwayError`. Without the build plugin, rejects with
 * `invalid-argument`; for a generator, it throws that error.
 */
export type OffloadCall = <Args extends unknown[], Result>(
  fn: (...args: Args) => Result,
  ...args: { [At in keyof Args]: Argument<Args[At]> }
) => Answer<Result>;

/** The function `offload` with its options and the end of its pool. */
export interface Offload extends OffloadCall {
  /** Returns a function that calls with these options. Throws `invalid-argument` for an unknown or invalid option. */
  with(options: OffloadOptions): OffloadCall;
  /**
   * Ends the shared pool: lets open calls finish and ends the workers. Calls that take longer than `timeoutMs` (default 30,000) fail with
   * `pool-closed`. With `dropWaiting`, calls that wait in the queue fail at once. A later call makes a new pool.
   */
  close(options?: { timeoutMs?: number | undefined; dropWaiting?: boolean | undefined }): Promise<void>;
  /** Fails every open call with `pool-terminated` and ends every worker at once. A later call makes a new pool. */
  terminate(): Promise<void>;
}

type Workers = Pool<OffloadTasks>;

// All calls of a thread share this pool. It is made with the first call, and has no worker while it is idle.
let shared: Workers | undefined;

function sharedPool({ worker, base }: TaskPlace): Workers {
  if (!shared) {
    const source =
      typeof worker === "function" ? worker : new URL(worker ?? ownWorker, worker ? base : import.meta.url);
    shared = pool<OffloadTasks>(source, { name: "offload", size: { min: 0 } });
  }
  return shared;
}

// Used in Node only, if neither the app's bundle nor the plugin contains the worker. Not a literal in `new URL()`, which bundlers would copy.
const ownWorker = "./offload-worker.js";

// Excludes the options that need a task module.
const { placement: _placement, onProgress: _onProgress, slices: _slices, ...offloadRules } = callRules;

function caller(options: OffloadOptions): OffloadCall {
  let workers: Workers | undefined;
  let call: Workers["call"] | undefined;
  const offloaded = (fn: unknown, ...args: unknown[]): unknown => {
    if (!(fn instanceof BuiltTask)) return refuse(fn);
    const { place, captures } = fn;
    const url = place.url === undefined ? ownUrl(place.file) : new URL(place.url, place.base).href;
    if (!call || !workers || workers !== shared) {
      workers = sharedPool(place);
      call = workers.with(options).call;
    }
    return call[place.stream ? "stream" : "run"](url, place.file, place.name, ...captures, ...args);
  };
  return offloaded as OffloadCall;
}

function ownUrl(file: string): string {
  const url = ownRegistry()?.urls.get(file);
  if (url === undefined)
    throw new ClearwayError("unknown-task", `the offloaded functions ${file} are not in this worker`);
  return url;
}

function refuse(fn: unknown): Promise<never> {
  const reason =
    typeof fn === "function"
      ? new ClearwayError(
          "invalid-argument",
          "offload() needs its build plugin, because code never crosses to a worker as text. Either add the plugin: " +
            'import clearway from "clearway-build/vite" (or /rollup, /esbuild, /webpack), plugins: [clearway()]. ' +
            "Or move the function to a task module: export default expose({ work }), and call " +
            'pool(new URL("./work.tasks.js", import.meta.url)).call.work(). If the plugin is there: write the function in the call itself',
        )
      : invalid("fn", "a function", fn);
  // A caller reads a generator's stream without `await`, so a rejected promise would be lost.
  if (/Generator/.test(tagOf(fn))) throw reason;
  return OwnPromise.reject(reason);
}

/**
 * Runs a function in a worker: `await offload((n: number) => countPrimes(n), 1_000_000)`. Needs the build plugin of `clearway-build`.
 *
 * The first call starts a worker; idle workers end after 30 s and do not keep a Node process alive.
 */
export const offload: Offload = /* @__PURE__ */ Object.assign(caller({}), {
  with: (options: OffloadOptions): OffloadCall => caller(checked(options, offloadRules as Rules)),
  async close(options?: { timeoutMs?: number | undefined; dropWaiting?: boolean | undefined }): Promise<void> {
    const closing = shared;
    shared = undefined;
    try {
      await closing?.close(options);
    } catch (reason) {
      // A wrong option: the pool is still open.
      shared ??= closing;
      throw reason;
    }
  },
  async terminate(): Promise<void> {
    const ending = shared;
    shared = undefined;
    await ending?.terminate();
  },
});

/** Written by the build plugin in the place of a function. An app does not call it. */
export function builtTask(place: TaskPlace, ...captures: unknown[]): never {
  return new BuiltTask(place, captures) as never;
}

/** Written by the build plugin for webpack, which replaces the URL by that of a built file. An app does not use it. */
export class WorkerFile {
  readonly href: string;

  constructor(url: URL) {
    this.href = url.href;
  }
}
