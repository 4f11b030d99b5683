// SPDX-License-Identifier: MIT OR Apache-2.0
// Parses the arguments of `clearway lab --profile NAME`: families, scenarios or cells (SCENARIO/MECHANISM), hosts and a profile.
import { InvalidArgumentError } from "commander";
import type { HostName } from "../protocol/message.js";
import { presentName } from "../scenario/former-names.js";
import { cellName, type PlannedCell } from "../scenario/plan.js";
import { FAMILY_NAMES, HOST_NAMES, PROFILE_NAMES, type ProfileName, type Scenario } from "../scenario/scenario.js";
import { UsageError } from "./errors.js";
import { didYouMean } from "./nearest.js";

export { UsageError };

/** Returns the named scenarios. Each keeps its named mechanisms, and its control and reference because comparisons need them. */
export function selectScenarios(all: readonly Scenario[], names: readonly string[]): Scenario[] {
  if (names.length === 0) return [...all];
  const wanted = new Map<string, Set<string>>();
  for (const name of names) {
    for (const [scenario, mechanisms] of resolve(all, name)) {
      const known = wanted.get(scenario) ?? new Set();
      for (const mechanism of mechanisms) known.add(mechanism);
      wanted.set(scenario, known);
    }
  }
  return all.filter(({ name }) => wanted.has(name)).map((scenario) => narrowed(scenario, wanted.get(scenario.name)!));
}

/**
 * Returns a function that tells whether a cell is left out. `names` are families, scenarios or cells; an unknown one is a UsageError. With
 * no names, no cell is left out.
 */
export function leavesOut(all: readonly Scenario[], names: readonly string[]): (cell: PlannedCell) => boolean {
  const left = new Set(
    names.flatMap((name) => resolve(all, name).flatMap(([scenario, own]) => own.map((each) => `${scenario}/${each}`))),
  );
  return (cell) => left.has(cellName(cell));
}

function resolve(all: readonly Scenario[], name: string): [string, string[]][] {
  const [first, second, ...rest] = name.split("/");
  const everything = (scenario: Scenario): [string, string[]] => [
    scenario.name,
    scenario.mechanisms.map((each) => each.name),
  ];
  if (second === undefined && (FAMILY_NAMES as readonly string[]).includes(name)) {
    return all.filter(({ family }) => family === name).map(everything);
  }
  const parts = (FAMILY_NAMES as readonly string[]).includes(first!) ? [second!, ...rest] : [first!, second, ...rest];
  const scenario = all.find((each) => each.name === parts[0]);
  if (scenario === undefined || parts.filter((part) => part !== undefined).length > 2) throw unknown(all, name);
  if (parts[1] === undefined) return [everything(scenario)];
  const asked = presentName(scenario.name, parts[1]);
  if (!scenario.mechanisms.some((mechanism) => mechanism.name === asked)) {
    const known = scenario.mechanisms.map((mechanism) => mechanism.name);
    const near = didYouMean(
      `${scenario.name}/${parts[1]}`,
      known.map((each) => `${scenario.name}/${each}`),
    );
    throw new UsageError(`unknown cell "${name}".${near} Mechanisms of ${scenario.name}: ${known.join(", ")}`);
  }
  return [[scenario.name, [asked]]];
}

function unknown(all: readonly Scenario[], name: string): UsageError {
  const scenarios = all.map((scenario) => scenario.name);
  const cells = all.flatMap((scenario) => scenario.mechanisms.map((each) => `${scenario.name}/${each.name}`));
  const near = didYouMean(name, name.includes("/") ? cells : [...FAMILY_NAMES, ...scenarios, "list"]);
  return new UsageError(
    `unknown family or cell "${name}".${near} Families: ${FAMILY_NAMES.join(", ")}. Scenarios: ${scenarios.join(", ")}. ` +
      "A cell is SCENARIO/MECHANISM, e.g. students/clearway-columns; all of them: clearway lab list --profile full",
  );
}

function narrowed(scenario: Scenario, mechanisms: Set<string>): Scenario {
  if (mechanisms.size === scenario.mechanisms.length) return scenario;
  const kept = (name: string) => mechanisms.has(name) || name === scenario.control || name === scenario.reference;
  return { ...scenario, mechanisms: scenario.mechanisms.filter(({ name }) => kept(name)) };
}

/** Parses the lab's own hosts. */
export function parseHosts(text: string): HostName[] {
  const names = parseHostNames(text);
  const stranger = names.find((name) => !(HOST_NAMES as readonly string[]).includes(name));
  if (stranger !== undefined)
    throw new InvalidArgumentError(
      `unknown host "${stranger}". Hosts: ${HOST_NAMES.join(", ")}.${didYouMean(stranger, HOST_NAMES)}`,
    );
  return names;
}

/** Parses names of hosts. `chosenHosts` checks them, after all options are known: `--runner` adds hosts. */
export function parseHostNames(text: string): HostName[] {
  return [...new Set(text.split(",").map((name) => name.trim()))];
}

export function parseProfile(text: string): ProfileName {
  const all: readonly string[] = PROFILE_NAMES;
  if (!all.includes(text))
    throw new InvalidArgumentError(`unknown profile "${text}". Profiles: ${all.join(", ")}.${didYouMean(text, all)}`);
  return text as ProfileName;
}

/** Parses the names of families, scenarios or cells after --without. */
export function parseNames(text: string, before: string[] = []): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes(""))
    throw new InvalidArgumentError("names are separated by one comma each, e.g. pool,stream/rxjs-subject");
  return [...before, ...names];
}

export function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff)
    throw new InvalidArgumentError("a seed is an integer from 0 to 4294967295");
  return seed;
}

export function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds < 1 || seconds > 3600)
    throw new InvalidArgumentError("the time is 1 to 3600 seconds");
  return seconds;
}

export function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
    throw new InvalidArgumentError("rounds are an integer from 1 to 1000");
  return rounds;
}

export function parseJdk(text: string): number {
  const release = Number(text);
  if (!Number.isInteger(release) || release < 17)
    throw new InvalidArgumentError("a JDK is named by its release, 17 or newer");
  return release;
}
