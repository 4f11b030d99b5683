// SPDX-License-Identifier: MIT OR Apache-2.0

import { ClearwayError } from "../error/clearway-error.js";
import type { WorkerLike } from "../host/host.js";

/**
 * Where a build put a function that was passed to `offload()`.
 *
 * The build writes one task file per source file. The task file adds its functions to the registry of the worker that imports it.
 */
export interface TaskPlace {
  /** Name of the task file in the registry. It contains a hash of the functions. */
  readonly file: string;
  /** Name of the function in the task file. */
  readonly name: string;
  /** URL of the task file: absolute, or relative to `base`. Undefined if this worker itself runs the task file. */
  readonly url: string | undefined;
  /** URL of the file that contains the call. */
  readonly base: string;
  /**
   * URL of the worker's file: absolute, or relative to `base`. Or a function that starts the worker. Undefined in Node, if the package is
   * not bundled.
   */
  readonly worker?: string | (() => WorkerLike) | undefined;
  /** Whether the function is a generator. */
  readonly stream?: boolean | undefined;
}

/** A function that a build has moved to a task file, with the values that it captured. */
export class BuiltTask {
  readonly place: TaskPlace;
  readonly captures: readonly unknown[];

  constructor(place: TaskPlace, captures: readonly unknown[]) {
    this.place = place;
    this.captures = captures;
  }
}

/** The functions of a task file. Each receives the captured values and returns the user's function. */
type TaskFile = Readonly<Record<string, (...captures: unknown[]) => (...args: unknown[]) => unknown>>;

/** The registry of a worker: its task files by name, and the URL from which it imported each. */
interface TaskRegistry {
  readonly files: Map<string, TaskFile>;
  readonly urls: Map<string, string>;
}

// A task file finds the registry by this name. A task file cannot export its functions, because some bundlers build it as a classic script.
const registryName = "__clearwayOffload";

/** Makes the registry of this thread. A task file that is imported without it registers nothing. */
export function makeRegistry(): TaskRegistry {
  const registry: TaskRegistry = { files: new Map(), urls: new Map() };
  Object.defineProperty(globalThis, registryName, { value: registry, configurable: true });
  return registry;
}

/** Returns the registry of this thread. Undefined outside of an offload worker. */
export function ownRegistry(): TaskRegistry | undefined {
  return (globalThis as Record<string, unknown>)[registryName] as TaskRegistry | undefined;
}

/** The tasks of an offload worker. The values are those that the function captured, and then its arguments. */
export interface OffloadTasks {
  run(url: string, file: string, name: string, ...values: unknown[]): unknown;
  stream(url: string, file: string, name: string, ...values: unknown[]): AsyncGenerator<unknown, unknown, void>;
}

/** Runs functions of task files. Imports each task file when it is first needed. */
export class TaskRunner {
  readonly #registry: TaskRegistry;
  readonly #load: (url: string) => Promise<unknown>;

  constructor(registry: TaskRegistry, load: (url: string) => Promise<unknown>) {
    this.#registry = registry;
    this.#load = load;
  }

  /** Runs a function. Returns its result at once if the task file was imported before, otherwise a promise. */
  run(url: string, file: string, name: string, values: readonly unknown[]): unknown {
    const known = this.#registry.files.get(file);
    return known
      ? start(known, url, name, values)
      : this.#import(url, file).then((fresh) => start(fresh, url, name, values));
  }

  async #import(url: string, file: string): Promise<TaskFile> {
    // The task file may itself call `offload()` with its own functions while it loads.
    this.#registry.urls.set(file, url);
    try {
      await this.#load(url);
    } catch (cause) {
      throw new ClearwayError("unknown-task", `the file of an offloaded function could not be loaded: ${url}`, {
        cause,
      });
    }
    const found = this.#registry.files.get(file);
    if (found) return found;
    throw new ClearwayError(
      "unknown-task",
      `${url} does not have the offloaded functions ${file}; build the app again`,
    );
  }
}

// `length` of the outer function is the number of captured values, because the build writes it with plain parameters only.
function start(tasks: TaskFile, url: string, name: string, values: readonly unknown[]): unknown {
  const bind = Object.hasOwn(tasks, name) ? tasks[name] : undefined;
  if (!bind) throw new ClearwayError("unknown-task", `${url} has no offloaded function ${name}; build the app again`);
  return bind(...values.slice(0, bind.length))(...values.slice(bind.length));
}
