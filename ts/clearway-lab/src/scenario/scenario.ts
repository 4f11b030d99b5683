// SPDX-License-Identifier: MIT OR Apache-2.0
// The shape of a scenario, which is data: ts/clearway-lab/scenarios/NAME.json.
import type { HostName, Json, Params } from "../protocol/message.js";

export type Role = "clearway" | "peer" | "reference";
export type ProfileName = "quick" | "full";
export const PROFILE_NAMES: readonly ProfileName[] = ["quick", "full"];
export const HOST_NAMES: readonly HostName[] = ["node", "chromium", "jvm"];
/** The hosts of a scenario that names none. */
export const USUAL_HOSTS: readonly HostName[] = ["node", "chromium"];
export const FAMILY_NAMES = ["isolate", "memory", "push", "channel", "offload"] as const;

/**
 * Where a strategy of *offload* runs its actions: on the calling thread, on one other thread, on about as many as there are
 * cores, on more, or where its own measurements suggest.
 */
export type Place = "caller" | "one" | "cpu" | "many" | "adaptive";

export interface MechanismInfo {
  name: string;
  title: string;
  role: Role;
  /** How it is set up here: the facts that a reader needs to repeat the measurement or to object. */
  settings: string;
  /** Default: every host of the scenario. On other hosts it is not a cell, like a Java library in Node. */
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
  /** The duration of one measurement on two cores, for estimating the time left. */
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
  /** The mechanism against which ratios are calculated. */
  reference: string;
  /** The compared figure: a value's name, or SAMPLE.QUANTILE. */
  compare: string;
  mechanisms: MechanismInfo[];
  profiles: Record<ProfileName, { rounds: number; sets: ParamSet[] }>;
}

/** Returns whether a mechanism is a cell of the scenario on that host, even if it cannot run there. */
export function belongsOn(host: HostName, scenario: Scenario, mechanism: MechanismInfo): boolean {
  const hosts = scenario.hosts ?? USUAL_HOSTS;
  return hosts.includes(host) && (mechanism.hosts ?? hosts).includes(host);
}
