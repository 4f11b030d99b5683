// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The API for task modules. A task module is an ordinary ES module: a unit test can import it and call its functions.
 *
 * @module clearway/worker
 */

export type { ErrorCode } from "./error/clearway-error.js";
export { ClearwayError } from "./error/clearway-error.js";
export { type Resource, type ResourceDefinition, resource } from "./resource/resource.js";
export { testContext } from "./task/context.js";
export { expose, exposeAll } from "./task/expose.js";
export {
  type Combined,
  type CombinedData,
  type Exposed,
  type ExposeOptions,
  type Leased,
  type ResourceValues,
  type Task,
  type TaskContext,
  type TaskMap,
  type TaskOptions,
  task,
  withResources,
} from "./task/task.js";
export { type Moved, move } from "./transfer/move.js";
