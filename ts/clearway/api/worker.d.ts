export { C as ClearwayError, E as ErrorCode } from './types-clearway-error.js';
import { T as TaskContext, b as TaskMap, E as ExposeOptions, c as Exposed, C as Combined, d as CombinedData } from './types-task.js';
export { L as Leased, R as Resource, e as ResourceDefinition, f as ResourceValues, g as Task, h as TaskOptions, r as resource, t as task, w as withResources } from './types-task.js';
export { M as Moved, m as move } from './types-move.js';
import './types-callback-stub.js';
import './types-crossing.js';

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
 * On the main thread and in a unit test, it only returns the tasks. In a worker, it may be called once, and in each task module that
 * {@link exposeAll} combines.
 *
 * With the option `setup`, each worker prepares itself before its first call. Throws `invalid-argument` for an invalid task or option.
 *
 * @typeParam Tasks - The tasks by name: functions, or results of `task()`.
 * @typeParam Data - The parameter of `setup`.
 */
declare function expose<const Tasks extends TaskMap, Data = undefined>(tasks: Tasks, options?: ExposeOptions<Data>): Exposed<Tasks, Data>;
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
declare function exposeAll<const Modules extends Readonly<Record<string, TaskMap>>>(all: Modules): Exposed<Combined<Modules>, CombinedData<Modules>>;

export { Combined, CombinedData, ExposeOptions, Exposed, TaskContext, TaskMap, expose, exposeAll, testContext };
