// SPDX-License-Identifier: MIT OR Apache-2.0
// The settings that the lab gives to a process that runs a user's code.

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
