// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent } from "#host";
import { object } from "../error/checked.js";
import { ClearwayError } from "../error/clearway-error.js";
import { receive } from "./bootstrap.js";
import { definitionOfTask, type Exposed, type TaskMap } from "./task.js";

let exposed = false;

/**
 * Names the tasks that a pool may call. Export what it returns by default, from the module that the pool is given:
 *
 * ```ts
 * export default expose({ checksum, resize: task(async ({ signal }, image: ImageData) => …) });
 * ```
 *
 * On the main thread, or in a unit test, it only returns the tasks. Throws `invalid-argument` when a worker calls it a second time.
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
