// SPDX-License-Identifier: MIT OR Apache-2.0
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
export type TaskFile = Readonly<Record<string, (...captures: unknown[]) => (...args: unknown[]) => unknown>>;

/** The registry of a worker: its task files by name, and the URL from which it imported each. */
export interface TaskRegistry {
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
