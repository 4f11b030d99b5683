// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the scenario files. The error for an invalid file has the file's name.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { packageRoot } from "../machine/optional-packages.js";
import { FAMILY_NAMES, type MechanismInfo, type Scenario } from "./scenario.js";

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
    "stream-swift",
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
