// SPDX-License-Identifier: MIT OR Apache-2.0
import { checked } from "../error/checked.js";
import { Engine } from "./engine.js";
import type { CallOptions, PoolOptions } from "./options.js";
import { type Callable, callable } from "./pool.js";
import { callSettingsOf, runRules, settingsOf } from "./settings.js";
import type { WorkerSource } from "./worker.js";

/** What a one-shot may be told: what a call may, and what concerns its one worker. */
export interface RunOptions
  extends CallOptions,
    Pick<PoolOptions, "resourceLimits" | "graceMs" | "startTimeoutMs" | "name"> {}

/**
 * Runs a single task in a fresh worker, which is ended afterwards: `await run<typeof import("./x.tasks.js")>(url).call.job(1)`.
 * Each call starts a worker of its own (about 15 ms in Node, 10 in Chromium); for more than one call, make a pool.
 * Throws `invalid-argument`.
 */
export function run<Module>(source: WorkerSource, options: RunOptions = {}): Callable<Module> {
  const { resourceLimits, graceMs, startTimeoutMs, name = "run", ...callOptions } = checked(options, runRules);
  const settings = settingsOf({ size: 1, resourceLimits, graceMs, startTimeoutMs, name } as PoolOptions);
  return callable(source, callSettingsOf(callOptions, settings), () => new Engine(source, settings, true));
}
