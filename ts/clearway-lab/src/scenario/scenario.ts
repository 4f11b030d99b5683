// SPDX-License-Identifier: MIT OR Apache-2.0
// The type of a scenario. Scenarios are data: ts/clearway-lab/scenarios/NAME.json.
import type { HostName, Json, OwnHost, Params } from "../protocol/message.js";

export type Role = "clearway" | "peer" | "reference";
export const HOST_NAMES: readonly OwnHost[] = ["node", "chromium", "jvm", "flutter", "swift"];
/** The hosts of a scenario that does not list its hosts. */
export const USUAL_HOSTS: readonly HostName[] = ["node", "chromium"];
export const FAMILY_NAMES = ["isolate", "memory", "push", "channel", "offload", "remote"] as const;

/**
 * The place where a strategy of the family `offload` runs its actions. `caller` is the calling thread, and `one` is one other thread.
 * `cpu` is about one thread per core, and `many` is more threads. `adaptive` is the place that the strategy's own measurements suggest.
 */
export type Place = "caller" | "one" | "cpu" | "many" | "adaptive";

export interface MechanismInfo {
  name: string;
  title: string;
  role: Role;
  /** The mechanism's settings. A reader needs them to repeat the measurement or to object to it. */
  settings: string;
  /** The hosts on which the mechanism has a cell. Default: every host of the scenario. A Java library, for example, has none in Node. */
  hosts?: HostName[];
  place?: Place;
  /** Whether the mechanism follows the text of a published experiment to the letter. Absent for all others. */
  published?: true;
  /** The reasons why the mechanism cannot run on a host, with the remedy. */
  unavailable?: Partial<Record<HostName, string>>;
}

export interface ParamSet {
  params: Params;
  /** The hosts that use the set. Default: every host of the scenario. */
  hosts?: HostName[];
  /** The mechanisms that use the set. Default: every mechanism of the scenario. */
  mechanisms?: string[];
  /** The reasons why mechanisms cannot run with these parameters. */
  unavailable?: Record<string, string>;
  /** Number of rounds. Default: the profile's number. */
  rounds?: number;
  /** Duration of one measurement on two cores, in milliseconds. The lab uses it to estimate the remaining time. */
  estimateMs: number;
}

export interface ProfileSets {
  rounds: number;
  sets: ParamSet[];
}

export interface Scenario {
  name: string;
  family: (typeof FAMILY_NAMES)[number];
  /** The hosts of the scenario. Default: Node and Chromium. */
  hosts?: HostName[];
  question: string;
  shows: string;
  topology: string;
  expected: Json;
  mechanisms: MechanismInfo[];
  /** The sets that the published experiments measure. The experiments' files have them. */
  profiles?: { published: ProfileSets };
}

/** Returns the hosts in the order of the report: the lab's own first. */
export function inOrder(hosts: readonly HostName[]): HostName[] {
  const own: readonly string[] = HOST_NAMES;
  return [...HOST_NAMES.filter((name) => hosts.includes(name)), ...hosts.filter((name) => !own.includes(name))];
}

/** Returns whether a mechanism has a cell of the scenario on the host, even if it cannot run there. */
export function belongsOn(host: HostName, scenario: Scenario, mechanism: MechanismInfo): boolean {
  const hosts = scenario.hosts ?? USUAL_HOSTS;
  return hosts.includes(host) && (mechanism.hosts ?? hosts).includes(host);
}
