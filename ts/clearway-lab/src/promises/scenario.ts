// SPDX-License-Identifier: MIT OR Apache-2.0
// The scenarios of the profile `promises`, which are data: scenarios/promises/NAME.json. Such a scenario measures several mechanisms in
// interleaved rounds of one process, and its result is a ratio with a target.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { HostName } from "../protocol/message.js";
import { scenarioFolder } from "../scenario/load.js";

/** The profile `promises` takes about five minutes. `promises-full` has enough rounds for quotable figures. */
export const PROMISE_PROFILES = ["promises", "promises-full"] as const;
export type PromiseProfile = (typeof PROMISE_PROFILES)[number];

/** A figure with its target. `sense` says on which side of `value` the figure must be. The sense "told" has no target. */
export interface PromisedFigure {
  id: string;
  what: string;
  sense: "at least" | "at most" | "told";
  value?: number;
  unit: string;
}

/** The amounts of a scenario's measurement: numbers of rounds, and seconds. */
export type Amounts = Readonly<Record<string, number>>;

export interface PromiseScenario {
  name: string;
  question: string;
  shows: string;
  hosts: HostName[];
  promises: PromisedFigure[];
  profiles: Record<PromiseProfile, Amounts>;
}

/** The order of the table. Scenarios that are not in this list follow by name. */
const ORDER = [
  "call",
  "flight",
  "students",
  "students-huge",
  "scan",
  "idle",
  "start",
  "stream",
  "stream-values",
  "channel",
  "codec",
  "native",
  "frames",
  "remote",
];

export function isPromiseProfile(name: string): name is PromiseProfile {
  return (PROMISE_PROFILES as readonly string[]).includes(name);
}

/** Reads the scenarios. Throws an Error with the file's name if one is invalid. */
export function loadPromiseScenarios(folder = path.join(scenarioFolder(), "promises")): PromiseScenario[] {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const scenarios = files.map((name) => {
    const scenario = JSON.parse(readFileSync(path.join(folder, name), "utf8")) as PromiseScenario;
    const problem = findProblem(scenario);
    if (problem !== undefined) throw new Error(`promises/${name}: ${problem}`);
    return scenario;
  });
  const rank = ({ name }: PromiseScenario) => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return scenarios.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

function findProblem({ name, hosts, promises, profiles }: PromiseScenario): string | undefined {
  if (!Array.isArray(hosts) || hosts.length === 0) return `no hosts: name=${name}`;
  if (!Array.isArray(promises) || promises.length === 0) return `no promises: name=${name}`;
  for (const { id, sense, value } of promises)
    if ((sense === "told") !== (value === undefined))
      return `a target needs a sense: id=${id} sense=${sense} value=${value}`;
  const missing = PROMISE_PROFILES.find((profile) => profiles[profile] === undefined);
  return missing === undefined ? undefined : `no amounts: profile=${missing}`;
}

/** Returns the amounts of a profile. `rounds` replaces every number of rounds that is not 0. */
export function amountsOf(scenario: PromiseScenario, profile: PromiseProfile, rounds?: number): Amounts {
  const amounts = scenario.profiles[profile];
  if (rounds === undefined) return amounts;
  const withRounds = ([name, amount]: [string, number]) => [
    name,
    /rounds$/i.test(name) && amount > 0 ? rounds : amount,
  ];
  return Object.fromEntries(Object.entries(amounts).map(withRounds)) as Amounts;
}

/** Returns whether a figure is on the right side of its target. */
export function verdict(
  { sense, value }: Pick<PromisedFigure, "sense" | "value">,
  figure: number,
): "met" | "missed" | "told" {
  if (sense === "told" || value === undefined) return "told";
  return (sense === "at least" ? figure >= value : figure <= value) ? "met" : "missed";
}
