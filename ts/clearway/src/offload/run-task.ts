// SPDX-License-Identifier: MIT OR Apache-2.0
import { ClearwayError } from "../error/clearway-error.js";
import type { TaskFile, TaskRegistry } from "./built-task.js";

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

  /** Runs a generator. Imports the task file before its first value. */
  async *stream(
    url: string,
    file: string,
    name: string,
    values: readonly unknown[],
  ): AsyncGenerator<unknown, unknown, void> {
    return yield* (await this.run(url, file, name, values)) as AsyncIterable<unknown>;
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
