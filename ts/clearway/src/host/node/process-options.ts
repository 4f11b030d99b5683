// SPDX-License-Identifier: MIT OR Apache-2.0
import { SHARE_ENV } from "node:worker_threads";
import { ClearwayError, invalid } from "../../error/clearway-error.js";
import type { ThreadOptions } from "../host.js";

// Two processes cannot listen on one port, so a child does not inherit the inspector. `execArgv` can set it.
const inspector = /^--inspect(-|=|$)/;

/** Returns Node's command line options for a worker that is a child process. */
export function processFlags({ execArgv, resourceLimits }: ThreadOptions): string[] {
  const flags = execArgv ? [...execArgv] : process.execArgv.filter((each) => !inspector.test(each));
  const { maxOldGenerationSizeMb: old, maxYoungGenerationSizeMb: young } = resourceLimits ?? {};
  if (old !== undefined) flags.push(`--max-old-space-size=${Math.ceil(old)}`);
  // The young generation has three semi-spaces.
  if (young !== undefined) flags.push(`--max-semi-space-size=${Math.max(1, Math.ceil(young / 3))}`);
  return flags;
}

/**
 * Checks the options of workers that are child processes, which are valid on their own. Throws `invalid-argument` for what only threads can
 * have.
 */
export function checkProcesses({ env, resourceLimits }: ThreadOptions): void {
  if (env === SHARE_ENV) throw invalid("env", "an object of strings if processes is true", env);
  for (const name of ["codeRangeSizeMb", "stackSizeMb"] as const) {
    const value = resourceLimits?.[name];
    if (value !== undefined)
      throw invalid(`resourceLimits.${name}`, "left out if processes is true (execArgv can set V8's limits)", value);
  }
}

/** Throws `invalid-argument` if the pool gets its workers from a factory, because a factory makes threads. */
export function refuseFactory(): never {
  throw new ClearwayError(
    "invalid-argument",
    "source must be the URL of a task module if processes is true: a function returns a thread",
  );
}
