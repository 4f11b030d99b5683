// SPDX-License-Identifier: MIT OR Apache-2.0
import { SHARE_ENV, type WorkerOptions } from "node:worker_threads";
import type { Rules, Test } from "../../error/checked.js";
import type { TextSink, ThreadOptions } from "../host.js";

const texts: Test = (value) =>
  (Array.isArray(value) && value.every((each) => typeof each === "string")) || "an array of strings";

const environment: Test = (value) =>
  value === SHARE_ENV || (typeof value === "object" && value !== null) || "an object of strings, or SHARE_ENV";

const sink: Test = (value) =>
  typeof (value as TextSink | null)?.write === "function" || "an object with the method write(), such as a stream";

/** The rules of `checked()` for the options of a worker's thread. */
export const threadRules: Rules = {
  resourceLimits: {
    maxOldGenerationSizeMb: 0,
    maxYoungGenerationSizeMb: 0,
    codeRangeSizeMb: 0,
    stackSizeMb: 0,
  },
  execArgv: texts,
  env: environment,
  argv: texts,
  workerData: () => true,
  processes: "boolean",
  stdout: sink,
  stderr: sink,
};

/** Returns the options of Node's `Worker`. An option that is not set is left out, so that the worker inherits it. */
export function workerOptions(options: ThreadOptions): WorkerOptions {
  const { resourceLimits, execArgv, env, argv, workerData, stdout, stderr } = options;
  return {
    ...(resourceLimits && { resourceLimits }),
    ...(execArgv && { execArgv: [...execArgv] }),
    ...(env && { env: env as NonNullable<WorkerOptions["env"]> }),
    ...(argv && { argv: [...argv] }),
    ...(workerData !== undefined && { workerData }),
    ...(stdout && { stdout: true }),
    ...(stderr && { stderr: true }),
  };
}
