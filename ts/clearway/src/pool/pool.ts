// SPDX-License-Identifier: MIT OR Apache-2.0
import { refuseFactory } from "#host";
import { checked } from "../error/checked.js";
import { invalid, stackAbove } from "../error/clearway-error.js";
import { asyncDispose } from "../globals.js";
import type { ThreadOptions } from "../host/host.js";
import { tagOf } from "../host/structure.js";
import type { Callers, PoolNeedsTheTypeOfItsModule, ProgressOf, SetupData, TasksOf } from "../task/task.js";
import { byName } from "./by-name.js";
import type { Broadcasters } from "./call/broadcast.js";
import type { Advice } from "./call/inline.js";
import { type MapOptions, type Mappers, MapResults } from "./call/map.js";
import { Engine } from "./engine.js";
import {
  type CallOptions,
  type CallSettings,
  callSettingsOf,
  type PoolOptions,
  runRules,
  type Settings,
  settingsOf,
} from "./options.js";
import { type PoolStats, statsOf } from "./stats.js";
import type { WorkerSource } from "./worker/worker.js";

/** The tasks of a module, as methods of `call`. */
export interface Callable<Module> {
  /** The module's tasks, by name. A plain task returns a promise. A generator task returns a stream. */
  readonly call: Callers<Module>;
}

/** The tasks of a pool's module: to call, to call for many inputs, or to call in every worker. */
export interface PoolCallable<Module> extends Callable<Module> {
  /**
   * Calls a task for each input: `pool.map.resize(images)`. The input is the task's first argument. Gives the results one by one, or as an
   * array: `await pool.map.resize(images)`. Reads the inputs as fast as the results are read. The first error cancels the open calls and
   * closes the inputs.
   */
  readonly map: Mappers<Module>;
  /**
   * Calls a task once in every worker that is ready or starting: `await pool.broadcast.reload(config)`. Resolves with the results by index of
   * the worker. If a worker ends before the call has begun there, the worker that takes its place gets the call. Workers that start later get
   * none: use the option `setup` for what each worker needs.
   *
   * Rejects when every call has ended, with a {@link BroadcastError} if one of them failed. Rejects with `invalid-argument` if an argument is
   * a stream or under `move()`.
   */
  readonly broadcast: Broadcasters<Module>;
}

/** A pool of warm workers that run the tasks of one module. */
export interface Pool<Module> extends PoolCallable<Module>, AsyncDisposable {
  /**
   * Returns the same tasks. Calls through the result use these options. The method is cheap, but keep the result for calls that share the
   * options.
   */
  with(options: CallOptions<ProgressOf<TasksOf<Module>>>): PoolCallable<Module>;
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
  /** Returns advice: which tasks may run on the calling thread, judged by the times of their runs so far. Changes nothing. */
  advise(): Promise<Advice>;
  /**
   * Closes the pool: accepts no new calls, waits for the open ones, closes the workers' resources and ends the threads. Calls that take
   * longer than `timeoutMs` (default 30,000) fail with `pool-closed`. Resources that are not closed within that time are abandoned. `await
   * using` calls `close()`.
   *
   * With `dropWaiting`, only the calls that workers have received are finished. Those in the queue fail with `pool-closed` at once. Both options
   * also work when the pool is closing already.
   */
  close(options?: { timeoutMs?: number | undefined; dropWaiting?: boolean | undefined }): Promise<void>;
  /** Fails every call with `pool-terminated` and ends every thread at once. Does not close resources. */
  terminate(): Promise<void>;
}

/**
 * Makes a pool of workers for a task module.
 *
 * `source` is the URL of the module. For bundlers, it is a factory around the expression that they understand: `() => new Worker(new
 * URL("./images.tasks.js", import.meta.url), { type: "module" })`. With a factory, the pool ignores `name` and the options of
 * {@link ThreadOptions}, because the factory sets them, and refuses `processes`.
 *
 * Starts the minimum number of workers at once and does not wait for them. Never blocks. Throws `invalid-argument` for an unknown or
 * invalid option, before it starts anything. The pool's `with()` throws the same error for invalid options, and `close()` rejects with it.
 */
export function pool<Module = PoolNeedsTheTypeOfItsModule>(
  source: WorkerSource,
  options: PoolOptions<SetupData<TasksOf<Module>>> = {},
): Pool<Module> {
  const settings = settingsOf(options as PoolOptions);
  checkSource(source, settings);
  const engine = new Engine(source, settings);
  const withOptions = (callOptions: CallOptions): PoolCallable<Module> => {
    const callSettings = callSettingsOf(callOptions, settings);
    return new Tasks<Module>(engine, callSettings);
  };
  const { call, map, broadcast } = withOptions({});
  return {
    call,
    map,
    broadcast,
    with: withOptions,
    ready: () => engine.ready(),
    room: () => engine.backlog.room(),
    ping: () => engine.ping(),
    stats: () => statsOf(engine),
    advise: async () => (await engine.loadLifecycle()).adviceOf(engine.tasks.values(), engine.inline?.why),
    close: async (closeOptions = {}) => {
      const { timeoutMs, dropWaiting } = checked(closeOptions, { timeoutMs: 0, dropWaiting: "boolean" });
      return engine.close(timeoutMs, dropWaiting);
    },
    terminate: () => engine.terminate(),
    [asyncDispose]: () => engine.close(),
  };
}

// JavaScriptCore removes the frame of a function that ends with a call, and then cannot find the function on the stack. `?? undefined` after
// the call keeps the frame. It changes no result, and no minifier removes it.
type Caller = (...args: unknown[]) => unknown;

/** The tasks of a pool, for calls with these options. Makes `map` and `broadcast` when they are first read: `with()` often serves one call. */
class Tasks<Module> implements PoolCallable<Module> {
  readonly call: Callers<Module>;
  readonly #engine: Engine;
  readonly #settings: CallSettings;
  #map: Mappers<Module> | undefined;
  #broadcast: Broadcasters<Module> | undefined;

  constructor(engine: Engine, settings: CallSettings) {
    this.#engine = engine;
    this.#settings = settings;
    this.call = byName((name) => engine.caller(name, settings));
  }

  get map(): Mappers<Module> {
    this.#map ??= this.#many<Mappers<Module>>((name, [inputs, options], call) => {
      return new MapResults({ engine: this.#engine, name, inputs, options: options as MapOptions, call });
    });
    return this.#map;
  }

  get broadcast(): Broadcasters<Module> {
    this.#broadcast ??= this.#many<Broadcasters<Module>>((name, args, call) =>
      this.#engine.loadLifecycle().then(({ broadcast }) => broadcast({ engine: this.#engine, name, args, call })),
    );
    return this.#broadcast;
  }

  // Returns an object of functions that make several calls. Their errors show the caller's stack, which is captured here.
  #many<Functions>(act: (name: string, args: unknown[], call: CallSettings) => unknown): Functions {
    return byName((name) => {
      const caller: Caller = (...args) => act(name, args, { ...this.#settings, callerStack: stackAbove(caller) });
      return caller;
    });
  }
}

function checkSource(source: WorkerSource, settings: Settings): void {
  if (hasProcesses && settings.processes && typeof source === "function") refuseFactory();
  // The tag of an asynchronous function, or of a generator, is longer.
  if (typeof source === "string" || ["URL", "Function"].includes(tagOf(source))) return;
  throw invalid("source", sourceRule, source);
}

const sourceRule =
  "the URL of a task module, or a function that returns a Worker (to run a function, expose() it in a task module)";

/** Options of `run()`: the options of a call, and those of its one worker. */
export interface RunOptions<Setup = undefined, Progress = unknown>
  extends CallOptions<Progress>,
    ThreadOptions,
    Pick<PoolOptions<Setup>, "graceMs" | "startTimeoutMs" | "name" | "setup" | "warnings"> {}

/**
 * Runs one task in a new worker, then ends the worker: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 *
 * Each call starts its own worker, which takes tens of milliseconds (docs/performance.md, "Pools"). For more than one call, make a pool. Throws `invalid-argument`.
 */
export function run<Module = PoolNeedsTheTypeOfItsModule>(
  source: WorkerSource,
  options: RunOptions<SetupData<TasksOf<Module>>, ProgressOf<TasksOf<Module>>> = {},
): Callable<Module> {
  const given = checked(options, runRules, { name: "run" });
  const settings = { ...settingsOf(given as PoolOptions, runRules), min: 1, max: 1 };
  checkSource(source, settings);
  const callSettings = callSettingsOf(given, settings, runRules);
  const call = byName<Callers<Module>>((name) => {
    const caller: Caller = (...args) =>
      new Engine(source, settings, true).submit(name, args, callSettings, caller) ?? undefined;
    return caller;
  });
  // `await run(() => work())` would give this object, and nothing would have run.
  const refuse = (_resolve: unknown, reject: (why: unknown) => void): void =>
    reject(invalid("source", sourceRule, source));
  // biome-ignore lint/suspicious/noThenProperty: only a mistaken `await` reads it
  return typeof source === "function" ? ({ call, then: refuse } as Callable<Module>) : { call };
}
