// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The module of the workers that run offloaded functions. Builds refer to it. An app does not import it.
 *
 * @module clearway/offload/worker
 */

import { makeRegistry, type OffloadTasks, TaskRunner } from "./offload/built-task.js";
import { expose } from "./task/expose.js";

// The URL is that of a file which a build wrote. Bundlers must leave this import as it is.
const runner = new TaskRunner(makeRegistry(), (url) => import(/* @vite-ignore */ /* webpackIgnore: true */ url));

expose({
  run: (url, file, name, ...values) => runner.run(url, file, name, values),
  // Imports the task file before the generator's first value.
  async *stream(url, file, name, ...values) {
    return yield* (await runner.run(url, file, name, values)) as AsyncIterable<unknown>;
  },
} satisfies OffloadTasks);
