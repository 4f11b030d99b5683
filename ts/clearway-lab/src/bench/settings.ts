// SPDX-License-Identifier: MIT OR Apache-2.0
// What the lab gives to a process that runs a user's code: settings, and the task module of a measured function.

/** The environment variable with the settings, as JSON. */
export const SETTINGS_VARIABLE = "CLEARWAY_LAB_USER_CODE";

/** Time in milliseconds that `teardown` gets, also after the limit of all steps. The process ends afterwards anyway. */
export const CLOSING_MS_MAX = 5000;

export interface UserCodeSettings {
  /** The URLs of the compiled entries: the user's file, and for `clearway measure` its task module. */
  urls: string[];
  /** Limit for all steps of a request, in milliseconds. */
  timeoutMs: number;
  /** The way of the scenario that the process serves as an arm. Without it, the process answers probes. */
  way?: string;
  /** The function of the first entry that `clearway measure` measures. Without it, the entry is a scenario. */
  function?: string;
}

/** The description of a scenario file, for the plan of a run. `null` is the input of a scenario without inputs. */
export interface ScenarioInfo {
  title?: string;
  inputs: (string | null)[];
  ways: string[];
  hasCheck: boolean;
}

/**
 * Returns the text of a task module that calls the function `name` of `file`, and that has its arguments. The tasks of a file that exposes
 * some itself are exposed with it, because a worker has one module.
 */
export function taskModuleOf(file: string, name: string, args: readonly unknown[]): string {
  const text = JSON.stringify(name);
  return `import * as module from ${JSON.stringify(file)};
import { expose, exposeAll } from "clearway/worker";
const call = (...args) => (module[${text}] ?? module.default?.[${text}])(...args);
export const makeArguments = () => JSON.parse(${JSON.stringify(JSON.stringify(args))});
const own = expose({ call });
try {
  exposeAll({ own, file: module.default });
} catch {
  // The file exposes no tasks.
}
`;
}
