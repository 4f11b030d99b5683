// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import { tagOf } from "../host/tag.js";
import type { Advice } from "../placement/advice.js";
import type { Callers } from "../task/caller.js";
import { Engine } from "./engine.js";
import {
  type CallOptions,
  type CallSettings,
  callSettingsOf,
  type PoolOptions,
  runRules,
  settingsOf,
} from "./options.js";
import { type PoolStats, statsOf } from "./stats.js";
import type { WorkerSource } from "./worker/worker.js";

/** The tasks of a module, as methods of `call`. */
export interface Callable<Module> {
  /** The module's tasks, by name. A plain task returns a promise. A generator task returns a stream. */
  readonly call: Callers<Module>;
}

/** A pool of warm workers that run the tasks of one module. */
export interface Pool<Module> extends Callable<Module>, AsyncDisposable {
  /**
   * Returns the same tasks. Calls through the result use these options. The method is cheap, but keep the result for calls that share the
   * options.
   */
  with(options: CallOptions): Callable<Module>;
  /**
   * Settles when a worker is ready. Starts a worker if there is none. Rejects with `worker-start-failed`, and with `pool-closed` or
   * `pool-terminated` once the pool has ended.
   */
  ready(): Promise<void>;
  /** Settles when the queue is below its limits. A producer of calls can wait for it. */
  room(): Promise<void>;
  /**
   * Makes one round trip to a worker, past the queue. Returns the worker's clock in milliseconds since the epoch. The meter's `ping()` uses
   * it.
   */
  ping(): Promise<{ remoteTimeMs: number }>;
  /** Returns counters and the ledger. With `metrics`, also returns histograms. */
  stats(): PoolStats;
  /**
   * Experimental. Returns advice: which tasks would be faster on another thread, judged by the cost of their calls so far. Changes nothing.
   * Loads the advisor. Pings a worker several times if the cost of a hop is not known.
   */
  advise(): Promise<Advice>;
  /**
   * Closes the pool: accepts no new calls, waits for the open ones, closes the workers' resources and ends the threads. Calls that take
   * longer than `timeoutMs` (default 30,000) fail with `pool-closed`. Resources that are not closed within that time are abandoned. `await
   * using` calls `close()`.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Fails every call with `pool-terminated` and ends every thread at once. Does not close resources. */
  terminate(): Promise<void>;
}

/**
 * Makes a pool of workers for a task module.
 *
 * `source` is the URL of the module. For bundlers, it is a factory around the expression that they understand: `() => new Worker(new
 * URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, the pool ignores `name` and `resourceLimits`, because
 * the factory sets them.
 *
 * Starts the minimum number of workers at once and does not wait for them. Never blocks. Throws `invalid-argument` for an unknown or
 * invalid option, before it starts anything. The pool's `with()` throws the same error for invalid options, and `close()` rejects with it.
 */
export function pool<Module>(source: WorkerSource, options: PoolOptions = {}): Pool<Module> {
  const settings = settingsOf(options);
  const withOptions = (callOptions: CallOptions): Callable<Module> => {
    const callSettings = callSettingsOf(callOptions, settings);
    if (callSettings.placement) engine.preloadPlacer();
    return callable(source, callSettings, () => engine);
  };
  const unbound = withOptions({});
  const engine = new Engine(source, settings);
  return {
    ...unbound,
    with: withOptions,
    ready: () => engine.ready(),
    room: () => engine.backlog.room(),
    ping: () => engine.ping(),
    stats: () => statsOf(engine),
    advise: async () => (await engine.loadPlacer()).advise(),
    close: async (closeOptions = {}) => engine.close(checked(closeOptions, { timeoutMs: 0 }).timeoutMs),
    terminate: () => engine.terminate(),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

type Caller = (...args: unknown[]) => unknown;

/** Returns an object whose `call` has a function for any name. Only the types know the names of the tasks. Makes one function per name. */
function callable<Module>(source: WorkerSource, settings: CallSettings, engineOf: () => Engine): Callable<Module> {
  if (typeof source !== "function" && typeof source !== "string" && tagOf(source) !== "URL") {
    throw invalid("source", "a URL, or a function that returns a Worker", source);
  }
  const known = new Map<string, Caller>();
  const call = new Proxy(Object.freeze(Object.create(null)), {
    get: (_target, name) => {
      // An object with a `then` is a thenable, so an `await` of it would call a task.
      if (typeof name !== "string" || name === "then") return undefined;
      return known.get(name) ?? make(name);
    },
  });
  const make = (name: string): Caller => {
    const caller: Caller = (...args) => engineOf().submit(name, args, settings, caller);
    known.set(name, caller);
    return caller;
  };
  return { call };
}

/** Options of `run()`: the options of a call, and those of its one worker. */
export interface RunOptions
  extends CallOptions,
    Pick<PoolOptions, "resourceLimits" | "graceMs" | "startTimeoutMs" | "name"> {}

/**
 * Runs one task in a new worker, then ends the worker: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 *
 * Each call starts its own worker (about 15 ms in Node, 10 in Chromium). For more than one call, make a pool. Throws `invalid-argument`.
 */
export function run<Module>(source: WorkerSource, options: RunOptions = {}): Callable<Module> {
  const { resourceLimits, graceMs, startTimeoutMs, name = "run", ...callOptions } = checked(options, runRules);
  const settings = settingsOf({ size: 1, resourceLimits, graceMs, startTimeoutMs, name } as PoolOptions);
  return callable(source, callSettingsOf(callOptions, settings), () => new Engine(source, settings, true));
}
