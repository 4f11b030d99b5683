export { C as ClearwayError, E as ErrorCode, M as Moved, m as move } from './types-move.js';
import { a as TaskContext, b as TaskMap, E as Exposed } from './types-task.js';
export { L as Leased, R as Resource, c as ResourceDefinition, d as ResourceValues, T as Task, e as TaskOptions, r as resource, t as task, w as withResources } from './types-task.js';

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
 * @typeParam Tasks - The tasks by name: functions, or results of `task()`.
 */
declare function expose<const Tasks extends TaskMap>(tasks: Tasks): Exposed<Tasks>;

export { Exposed, TaskContext, TaskMap, expose, testContext };
