// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import { tagOf } from "../host/tag.js";
import type { Advice } from "../placement/advice.js";
import type { Callers } from "../task/caller.js";
import { Engine } from "./engine.js";
import type { CallOptions, PoolOptions } from "./options.js";
import { type CallSettings, callSettingsOf, settingsOf } from "./settings.js";
import { type PoolStats, statsOf } from "./stats.js";
import type { WorkerSource } from "./worker.js";

/** Something whose tasks can be called. */
export interface Callable<Module> {
  /** The module's tasks, by name. A plain task gives a promise, a generator a stream. */
  readonly call: Callers<Module>;
}

/** Warm workers that run the tasks of one module. */
export interface Pool<Module> extends Callable<Module>, AsyncDisposable {
  /** The same tasks, called with these options. Cheap; keep it for calls that share them. */
  with(options: CallOptions): Callable<Module>;
  /** Settles when the first worker is ready. Starts one if there is none. Rejects with `worker-start-failed`. */
  ready(): Promise<void>;
  /** Settles when the queue is within its bounds: what a producer of calls waits for. */
  room(): Promise<void>;
  /** One round trip to a worker, past the queue; its clock in milliseconds since the epoch. For `ping()` of the meter. */
  ping(): Promise<{ remoteTimeMs: number }>;
  /** Counters, ledger and, with `metrics`, histograms. */
  stats(): PoolStats;
  /**
   * Which tasks would be better placed elsewhere, from what their calls have cost so far. Changes nothing. Loads what
   * reads the figures, and sends a few pings to a worker where the price of a hop is not known otherwise.
   */
  advise(): Promise<Advice>;
  /**
   * Takes no new calls, lets those under way finish, closes the workers' resources, ends the threads. Calls that take
   * longer than `timeoutMs` (default 30,000) fail with `pool-closed`, and resources that are not closed by then are given up.
   * `await using` does this.
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Fails every call with `pool-terminated` and ends every thread, whatever it does. Resources are not closed. */
  terminate(): Promise<void>;
}

/**
 * Makes a pool of workers for a task module.
 *
 * `source` is the URL of the module, or, for bundlers, a factory around the expression that they understand:
 * `() => new Worker(new URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, `name` and
 * `resourceLimits` are the factory's business.
 *
 * Starts its smallest number of workers at once, without waiting for them. Never blocks. Throws `invalid-argument` for an
 * option that is unknown or cannot be, having started nothing; `with()` does, too, and `close()` rejects with it.
 */
export function pool<Module>(source: WorkerSource, options: PoolOptions = {}): Pool<Module> {
  const settings = settingsOf(options);
  const withOptions = (callOptions: CallOptions): Callable<Module> => {
    const callSettings = callSettingsOf(callOptions, settings);
    if (callSettings.placement) engine.expectPlacing();
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
    advise: async () => (await engine.placing()).advise(),
    close: async (closeOptions = {}) => engine.close(checked(closeOptions, { timeoutMs: 0 }).timeoutMs),
    terminate: () => engine.terminate(),
    [Symbol.asyncDispose]: () => engine.close(),
  };
}

type Caller = (...args: unknown[]) => unknown;

/** Functions by any name: the names are known to the types only. A name's function is made once. */
export function callable<Module>(
  source: WorkerSource,
  settings: CallSettings,
  engineOf: () => Engine,
): Callable<Module> {
  if (typeof source !== "function" && typeof source !== "string" && tagOf(source) !== "URL") {
    throw invalid("source", "a URL, or a function that returns a Worker", source);
  }
  const known = new Map<string, Caller>();
  const call = new Proxy(Object.freeze(Object.create(null)), {
    get: (_target, name) => {
      // `then` would make an `await` of this object call a task.
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
