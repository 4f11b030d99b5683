// SPDX-License-Identifier: MIT OR Apache-2.0
// A scenario is data: ts/clearway-lab/scenarios/NAME.json. This is its shape.
import type { HostName, Json, Params } from "../protocol/message.js";

export type Role = "clearway" | "peer" | "reference";
export type ProfileName = "quick" | "full";
export const PROFILE_NAMES: readonly ProfileName[] = ["quick", "full"];
export const HOST_NAMES: readonly HostName[] = ["node", "chromium", "jvm"];
/** Where a scenario runs that does not say it. */
export const USUAL_HOSTS: readonly HostName[] = ["node", "chromium"];
export const FAMILY_NAMES = ["isolate", "memory", "push", "channel", "offload"] as const;

/**
 * Where a strategy of *offload* runs its actions: on the calling thread, on one other thread, on about as many as there are
 * cores, on more, or where it decides by what it measured.
 */
export type Place = "caller" | "one" | "cpu" | "many" | "adaptive";

export interface MechanismInfo {
  name: string;
  title: string;
  role: Role;
  /** How it is set up here: what a reader needs to repeat it or to object. */
  settings: string;
  /** Default: every host of the scenario. Elsewhere it is not a cell, as a Java library is none in Node. */
  hosts?: HostName[];
  place?: Place;
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
  /** Default: Node and Chromium. */
  hosts?: HostName[];
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

/** Whether a mechanism is a cell of the scenario on that host, able to run there or not. */
export function belongsOn(host: HostName, scenario: Scenario, mechanism: MechanismInfo): boolean {
  const hosts = scenario.hosts ?? USUAL_HOSTS;
  return hosts.includes(host) && (mechanism.hosts ?? hosts).includes(host);
}
