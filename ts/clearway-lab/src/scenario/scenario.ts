// SPDX-License-Identifier: MIT OR Apache-2.0
// A scenario is data: ts/clearway-lab/scenarios/NAME.json. This is its shape.
import type { HostName, Json, Params } from "../protocol/message.js";

export type Role = "clearway" | "peer" | "reference";
export type ProfileName = "quick" | "full";
export const PROFILE_NAMES: readonly ProfileName[] = ["quick", "full"];
export const HOST_NAMES: readonly HostName[] = ["node", "chromium"];
export const FAMILY_NAMES = ["isolate", "memory", "push", "channel"] as const;

export interface MechanismInfo {
  name: string;
  title: string;
  role: Role;
  /** How it is set up here: what a reader needs to repeat it or to object. */
  settings: string;
  /** Why it cannot run on a host, and what to do about it. */
  unavailable?: Partial<Record<HostName, string>>;
}

export interface ParamSet {
  params: Params;
  /** Default: every host. */
  hosts?: HostName[];
  /** Default: every mechanism of the scenario. */
  mechanisms?: string[];
  /** Why a mechanism cannot run with these parameters. */
  unavailable?: Record<string, string>;
  /** Run the scenario's control mechanism twice, as two cells, for the noise floor. */
  control?: boolean;
  /** Default: the profile's. */
  rounds?: number;
  /** How long one measurement takes on two cores, for the time left. */
  estimateMs: number;
}

export interface Scenario {
  name: string;
  family: (typeof FAMILY_NAMES)[number];
  question: string;
  shows: string;
  topology: string;
  expected: Json;
  /** The mechanism that is run twice. */
  control: string;
  /** The mechanism that ratios are taken against. */
  reference: string;
  /** What is compared: a value's name, or SAMPLE.QUANTILE. */
  compare: string;
  mechanisms: MechanismInfo[];
  profiles: Record<ProfileName, { rounds: number; sets: ParamSet[] }>;
}
