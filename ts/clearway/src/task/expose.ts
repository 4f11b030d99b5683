// SPDX-License-Identifier: MIT OR Apache-2.0
import { parent } from "#host";
import { checked, object } from "../error/checked.js";
import { ClearwayError, invalid } from "../error/clearway-error.js";
import { Bootstrap, type TaskModule } from "./bootstrap.js";
import {
  type Combined,
  type CombinedData,
  definitionOfTask,
  type Exposed,
  type ExposeOptions,
  type TaskMap,
} from "./task.js";

/** The modules by what `expose()` and `exposeAll()` have returned. */
const modules = new WeakMap<object, TaskModule>();
const start = /* @__PURE__ */ new Bootstrap();

/**
 * Exposes the tasks that a pool may call. Export the result as the default export of the task module:
 *
 * ```ts
 * export default expose({ checksum, resize: task(async ({ signal }, image: ImageData) => …) });
 * ```
 *
 * On the main thread and in a unit test, it only returns the tasks. In a worker, it may be called once, and in each task module that
 * {@link exposeAll} combines.
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
  return publish(tasks, { names, definitions, setup: setup as TaskModule["setup"] });
}

/**
 * Exposes the tasks of several task modules, so that one pool runs them:
 *
 * ```ts
 * import images from "./images.tasks.js";
 * import text from "./text.tasks.js";
 *
 * export default exposeAll({ images, text }); // the caller: pool.call["images.resize"](photo)
 * ```
 *
 * The name of a task begins with the name of its module and a dot. Tasks keep their options and resources. If modules have a `setup`, the
 * pool's option `setup` is an object with the data for each of these modules, by name; they run one after the other.
 *
 * Throws `invalid-argument` if a value is not the default export of a task module, or if two tasks get the same name.
 *
 * @typeParam Modules - The default exports of the task modules, by name.
 */
export function exposeAll<const Modules extends Readonly<Record<string, TaskMap>>>(
  all: Modules,
): Exposed<Combined<Modules>, CombinedData<Modules>> {
  const tasks: Record<string, unknown> = {};
  const definitions = [];
  const parts = new Map<string, TaskModule>();
  const owners = new Map<string, string>();
  for (const [name, each] of Object.entries(object("modules", all))) {
    const part = modules.get(Object(each));
    if (!part)
      throw invalid(`modules.${name}`, "the default export of a task module, which expose() has returned", each);
    parts.set(name, part);
    for (const [at, task] of part.names.entries()) {
      const full = `${name}.${task}`;
      const owner = `"${task}" of the module "${name}"`;
      const other = owners.get(full);
      if (other)
        throw new ClearwayError("invalid-argument", `two tasks have the name "${full}": ${other}, and ${owner}`);
      owners.set(full, owner);
      tasks[full] = each[task];
      definitions.push(part.definitions[at]!);
    }
  }
  const names = Object.keys(tasks);
  const setups = [...parts].filter(([, { setup }]) => setup);
  const setup = async (data: unknown = {}): Promise<void> => {
    checked(
      object("setup", data),
      Object.fromEntries(setups.map(([name]) => [name, () => true as const])),
      {},
      "setup",
    );
    for (const [name, each] of setups) await each.setup?.((data as Record<string, unknown>)[name]);
  };
  const combined = { names, definitions, setup: setups.length > 0 ? setup : undefined };
  return publish(tasks, combined, [...parts.values()]) as Exposed<Combined<Modules>, CombinedData<Modules>>;
}

// Records a module. In a worker, makes it the worker's module.
function publish<Tasks extends object>(tasks: Tasks, module: TaskModule, parts: TaskModule[] = []): Tasks {
  modules.set(tasks, module);
  const endpoint = parent();
  if (endpoint) start.receive(endpoint, module, parts);
  return tasks;
}
