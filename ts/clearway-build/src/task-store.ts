// SPDX-License-Identifier: MIT OR Apache-2.0
import { type TaskFile, taskFilePath } from "./task-file.js";

/** The task files of a build, by their hash. The main build and the builds of its workers share a store. */
export class TaskStore {
  readonly #files = new Map<string, TaskFile>();

  add(file: TaskFile): void {
    const hash = taskFilePath.exec(file.path)?.[1];
    if (hash) this.#files.set(hash, file);
  }

  get size(): number {
    return this.#files.size;
  }

  byHash(hash: string): TaskFile | undefined {
    return this.#files.get(hash);
  }

  /** Returns the task file of a name. */
  byName(name: string): TaskFile | undefined {
    return [...this.#files.values()].find((file) => file.name === name);
  }

  /** Returns the task file of a path, of a URL path or of either with a query. Undefined for every other file. */
  find(id: string): TaskFile | undefined {
    const hash = taskFilePath.exec(splitId(id).path)?.[1];
    return hash === undefined ? undefined : this.#files.get(hash);
  }
}

/** Splits a bundler's module id into its path and its query. */
export function splitId(id: string): { path: string; query: string } {
  const at = id.indexOf("?");
  return at < 0 ? { path: id, query: "" } : { path: id.slice(0, at), query: id.slice(at) };
}

/** The store of each compiler. webpack passes options to loaders as text, and the loader needs the store itself. */
export const storeOf = new WeakMap<object, TaskStore>();
