export { C as ClearwayError, E as ErrorCode, M as Moved, m as move } from './types-move.js';
import { a as TaskContext, b as TaskMap, E as Exposed } from './types-task.js';
export { L as Leased, R as Resource, c as ResourceDefinition, d as ResourceValues, T as Task, e as TaskOptions, r as resource, t as task, w as withResources } from './types-task.js';

/**
 * A context for unit tests of tasks: `myTask(testContext(), 1, 2)`. Its signal is never aborted and its progress goes
 * nowhere, unless you say otherwise; add the resources that the task names.
 */
declare function testContext(): TaskContext;
declare function testContext<Extra extends object>(extra: Extra & Partial<TaskContext>): TaskContext & Extra;

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
declare function expose<const Tasks extends TaskMap>(tasks: Tasks): Exposed<Tasks>;

export { Exposed, TaskContext, TaskMap, expose, testContext };
