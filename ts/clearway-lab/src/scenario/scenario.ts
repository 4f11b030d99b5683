// SPDX-License-Identifier: MIT OR Apache-2.0
// Scenarios, and their files. Scenarios are data: ts/clearway-lab/scenarios/NAME.json.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../machine/optional-packages.js";
import type { HostName, Json, OwnHost, Params } from "../protocol/message.js";

export type Role = "clearway" | "peer" | "reference";
export const HOST_NAMES: readonly OwnHost[] = ["node", "chromium", "firefox", "webkit", "jvm", "flutter", "swift"];
/** The hosts of a run that names none. */
export const DEFAULT_HOSTS: readonly OwnHost[] = HOST_NAMES.filter((name) => name !== "firefox" && name !== "webkit");
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
  /** Whether only a run that is added to a kept one measures the set, because an hour has no room for it. */
  further?: true;
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

/** Returns the name under which scenarios list a host. What they say of Chromium holds for every browser: the page is the same. */
export function listedAs(host: HostName): HostName {
  return host === "firefox" || host === "webkit" ? "chromium" : host;
}

/** Returns whether a mechanism has a cell of the scenario on the host, even if it cannot run there. */
export function belongsOn(host: HostName, scenario: Scenario, mechanism: MechanismInfo): boolean {
  const hosts = scenario.hosts ?? USUAL_HOSTS;
  return hosts.includes(listedAs(host)) && (mechanism.hosts ?? hosts).includes(listedAs(host));
}

// Reads the scenario files. The error for an invalid file has the file's name.

/** Returns the folder in CLEARWAY_LAB_SCENARIOS, or the package's own folder of scenarios. */
export function scenarioFolder(): string {
  const given = process.env["CLEARWAY_LAB_SCENARIOS"];
  return given ? path.resolve(given) : path.join(packageRoot(), "scenarios");
}

type ScenarioFile = Omit<Scenario, "mechanisms"> & { mechanisms?: MechanismInfo[]; mechanismsFrom?: string };

/** Returns every scenario, in the order of the families. Within a family, the list below gives the order. */
export function loadScenarios(folder = scenarioFolder()): Scenario[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const read = files.map(
    (name) => [name, JSON.parse(readFileSync(path.join(folder, name), "utf8")) as ScenarioFile] as const,
  );
  const byName = new Map(read.map(([, file]) => [file.name, file]));
  const scenarios = read.map(([name, { mechanismsFrom, ...file }]): Scenario => {
    const mechanisms = file.mechanisms ?? byName.get(mechanismsFrom ?? "")?.mechanisms;
    if (mechanisms === undefined)
      throw new Error(`${name}: it has no mechanisms and mechanismsFrom=${mechanismsFrom} names no scenario`);
    const scenario = { ...file, mechanisms };
    const problem = findProblem(scenario);
    if (problem !== undefined) throw new Error(`${name}: ${problem}`);
    return scenario;
  });
  const order = [
    "students",
    "students-published",
    "fetch-image",
    "fetch-json",
    "crossing",
    "upload",
    "pool",
    "closed-connection",
    "http2-feed",
    "memset-published",
    "memset-builds",
    "memset-jvm",
    "memset-swift",
    "stream",
    "stream-published",
    "chained-hops",
    "growing-queue",
    "published-stream-jvm",
    "published-firehose-jvm",
    "stream-published-swift",
    "chained-hops-swift",
    "growing-queue-swift",
    "codec",
    "codec-jvm",
    "codec-flutter",
    "codec-swift",
    "channel-worker",
    "channel-process-swift",
    "platform-channel",
    "channel-native-swift",
    "channel-flutter",
    "published-executors",
    "executors-cold",
    "executors-started",
  ];
  const rank = (scenario: Scenario) => (order.indexOf(scenario.name) + order.length + 1) % (order.length + 1);
  return scenarios.sort((a, b) => familyRank(a) - familyRank(b) || rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function familyRank({ family }: Scenario): number {
  return (FAMILY_NAMES as readonly string[]).indexOf(family);
}

function findProblem(scenario: Scenario): string | undefined {
  const names = new Set(scenario.mechanisms.map((mechanism) => mechanism.name));
  if (familyRank(scenario) < 0) return `unknown family: family=${scenario.family}`;
  if (names.size !== scenario.mechanisms.length) return "two mechanisms have one name";
  return undefined;
}
