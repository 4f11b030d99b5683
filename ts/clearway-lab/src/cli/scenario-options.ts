// SPDX-License-Identifier: MIT OR Apache-2.0
// The options of `clearway lab --profile NAME`.
import type { HostName } from "../protocol/message.js";
import type { ForeignRunners } from "../runner/runners.js";
import type { ProfileName } from "../scenario/scenario.js";

export interface ScenarioOptions {
  host: HostName[];
  profile: ProfileName;
  out: string;
  /** Number of rounds of each cell. Default: five to nine in the profile quick, the scenario's number in the profile full. */
  rounds?: number;
  seed?: number;
  /** The families, scenarios or cells that are left out. */
  without?: string[];
  /** Release of the JDK for host `jvm`. Default: the newest installed release. */
  jdk?: number;
  /** The commands of further hosts' runners. */
  runner?: ForeignRunners;
  /** Whether to print the summary as JSON. */
  json?: boolean;
}
