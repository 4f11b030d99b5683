// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent } from "#host";
import { object } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { receive } from "./bootstrap.js";
import { definitionOfTask, type Exposed, type TaskMap } from "./task.js";

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
 * @typeParam Tasks - The tasks by name: functions, or results of `task()`.
 */
export function expose<const Tasks extends TaskMap>(tasks: Tasks): Exposed<Tasks> {
  const names = Object.keys(object("tasks", tasks));
  const definitions = [];
  for (const name of names) definitions.push(definitionOfTask(name, tasks[name]));
  const endpoint = parent();
  if (endpoint === undefined) return tasks;
  if (exposed) {
    throw new ClearwayError("invalid-argument", "expose() was called twice in one worker; a module exposes once");
  }
  exposed = true;
  receive(endpoint, names, definitions);
  return tasks;
}
