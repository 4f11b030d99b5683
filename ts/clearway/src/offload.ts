// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Runs one function in a worker, without a task module: `await offload((n: number) => countPrimes(n), 1_000_000)`. A build plugin of the
 * package `clearway-build` moves the function to a file of its own. Without the plugin, `offload` refuses every function.
 *
 * @module clearway/offload
 */

export type { TaskPlace } from "./offload/built-task.js";
export {
  builtTask,
  type Offload,
  type OffloadCall,
  type OffloadOptions,
  offload,
  WorkerFile,
} from "./offload/offload.js";
