export { C as ClearwayError, E as ErrorCode } from './types-clearway-error.js';
import { T as TaskContext, a as TaskMap, E as ExposeOptions, b as Exposed } from './types-task.js';
export { L as Leased, R as Resource, c as ResourceDefinition, d as ResourceValues, e as Task, f as TaskOptions, r as resource, t as task, w as withResources } from './types-task.js';
export { M as Moved, m as move } from './types-move.js';

/**
 * Returns a context for unit tests of tasks: `myTask(testContext(), 1, 2)`. By default, its signal never aborts and it ignores progress.
 * Pass other members, and the resources that the task uses, in `extra`.
 */
declare function testContext(): TaskContext;
declare function testContext<Extra extends object>(extra: Extra & Partial<TaskContext>): TaskContext & Extra;

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
declare function expose<const Tasks extends TaskMap, Data = undefined>(tasks: Tasks, options?: ExposeOptions<Data>): Exposed<Tasks, Data>;

export { ExposeOptions, Exposed, TaskContext, TaskMap, expose, testContext };
