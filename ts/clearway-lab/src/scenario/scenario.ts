// SPDX-License-Identifier: MIT OR Apache-2.0
// The form of a scenario. Scenarios are data: ts/clearway-lab/scenarios/NAME.json.
import type { HostName, Json, Params } from "../protocol/message.js";

export type Role = "clearway" | "peer" | "reference";
export type ProfileName = "quick" | "full";
export const PROFILE_NAMES: readonly ProfileName[] = ["quick", "full"];
export const HOST_NAMES: readonly HostName[] = ["node", "chromium", "jvm"];
/** The hosts of a scenario that does not list its hosts. */
export const USUAL_HOSTS: readonly HostName[] = ["node", "chromium"];
export const FAMILY_NAMES = ["isolate", "memory", "push", "channel", "offload"] as const;

/**
 * The place where a strategy of *offload* runs its actions: the calling thread, one other thread, about as many threads as there are
 * cores, more threads, or the place that its own measurements suggest.
 */
export type Place = "caller" | "one" | "cpu" | "many" | "adaptive";

export interface MechanismInfo {
  name: string;
  title: string;
  role: Role;
  /** The mechanism's settings: the facts that a reader needs to repeat the measurement or to object to it. */
  settings: string;
  /** Default: every host of the scenario. On other hosts the mechanism has no cell, for example a Java library in Node. */
  hosts?: HostName[];
  place?: Place;
  /** The reasons why the mechanism cannot run on hosts, and the remedies. */
  unavailable?: Partial<Record<HostName, string>>;
}

export interface ParamSet {
  params: Params;
  /** Default: every host of the scenario. */
  hosts?: HostName[];
  /** Default: every mechanism of the scenario. */
  mechanisms?: string[];
  /** The reasons why mechanisms cannot run with these parameters. */
  unavailable?: Record<string, string>;
  /** Whether to run the scenario's control mechanism twice, as two cells, for the noise floor. */
  control?: boolean;
  /** Default: the profile's. */
  rounds?: number;
  /** The duration of one measurement on two cores. The lab uses it to estimate the time left. */
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
  /** The mechanism that runs twice. */
  control: string;
  /** The mechanism that ratios are relative to. */
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
