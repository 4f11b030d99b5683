// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent } from "#host";
import { checked, object } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { receive } from "./bootstrap.js";
import { definitionOfTask, type Exposed, type ExposeOptions, type TaskMap } from "./task.js";

let exposed = false;

/**
 * Exposes the tasks that a pool may call. Export the result as the default export of the task module:
 *
 * ```ts
 * export default expose({ checksum, resize: task(async ({ signal }, image: ImageData) => …) });
 * ```
 *
 * On the main thread and in a unit test, it only returns the tasks. In a worker, a second call throws `invalid-argument`.
 *
 * With the option `setup`, each worker prepares itself before its first call. Throws `invalid-argument` for an invalid task or option.
 *
 * @typeParam Tasks - The tasks by name: functions, or results of `task()`.
 * @typeParam Data - The parameter of `setup`.
 */
export function expose<const Tasks extends TaskMap, Data = undefined>(
  tasks: Tasks,
  options?: ExposeOptions<Data>,
): Exposed<Tasks, Data> {
  const names = Object.keys(object("tasks", tasks));
  const definitions = [];
  for (const name of names) definitions.push(definitionOfTask(name, tasks[name]));
  const setup = options && checked(options, { setup: "function" }).setup;
  const endpoint = parent();
  if (endpoint === undefined) return tasks;
  if (exposed) {
    throw new ClearwayError("invalid-argument", "expose() was called twice in one worker; a module exposes once");
  }
  exposed = true;
  receive(endpoint, names, definitions, setup as ((data: unknown) => unknown) | undefined);
  return tasks;
}
