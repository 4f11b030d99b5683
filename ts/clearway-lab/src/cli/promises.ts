// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab --profile promises`: measures the figures that Clearway promises, and those of other libraries. Prints the table
// and writes promises.json.
import path from "node:path";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { promiseFiles } from "../native/promise-files.js";
import { Collector } from "../promises/collector.js";
import { measurements } from "../promises/measurements/measurements.js";
import { PROMISE_PEERS, promiseResults } from "../promises/results.js";
import { measurePromises, type PromisePlan, plannedMeasurements } from "../promises/run.js";
import { loadPromiseScenarios, type PromiseProfile, type PromiseScenario } from "../promises/scenario.js";
import { promiseTable } from "../promises/table.js";
import type { HostName, Json } from "../protocol/message.js";
import { duration } from "../report/duration.js";
import { assertResults } from "../run/schema.js";
import { PROFILE_VARIABLE } from "../runner/profile.js";
import { Runners } from "../runner/runners.js";
import { askHosts } from "./hosts.js";
import { printJson } from "./json.js";
import { keepRun } from "./keep-run.js";
import { didYouMean } from "./nearest.js";
import { openOut } from "./out-folder.js";
import { print, printError } from "./print.js";
import { UsageError } from "./select.js";
import { columned, columnsOf, fitted } from "./width.js";

export interface PromiseOptions {
  host: HostName[];
  profile: PromiseProfile;
  out: string;
  rounds?: number;
  seed?: number;
  /** Whether to print the results as JSON. */
  json?: boolean;
}

/** The file that a run writes into its folder. */
export const PROMISES_FILE = "promises.json";

/** Time limit of a probe, in milliseconds, if its row sets no other limit. A probe that exceeds it is ended. */
const PROBE_MS_MAX = 120_000;

/** Runs the profile. Returns the exit status. */
export async function promises(what: readonly string[], options: PromiseOptions): Promise<number> {
  const scenarios = selectPromises(loadPromiseScenarios(), what);
  const hosts = options.host.filter((host) => scenarios.some((scenario) => scenario.hosts.includes(host)));
  if (hosts.length === 0)
    throw new UsageError(`the profile ${options.profile} measures none of this on ${options.host.join(" and ")}`);
  const out = openOut(options.out, [PROMISES_FILE]);
  try {
    return await measure(scenarios, hosts, out.path, options);
  } finally {
    out.close();
  }
}

async function measure(
  scenarios: PromiseScenario[],
  hosts: HostName[],
  out: string,
  options: PromiseOptions,
): Promise<number> {
  const begin = performance.now();
  const startedAt = new Date().toISOString();
  const interruption = new AbortController();
  const runners = new Runners({ [PROFILE_VARIABLE]: options.profile });
  const native = promiseFiles();
  const onInterrupt = () => {
    if (interruption.signal.aborted) process.exit(130);
    printError("\ninterrupted: the finished measurements are kept (interrupt again to exit at once)\n");
    interruption.abort();
    runners.interrupt();
  };
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onInterrupt);
  try {
    const machine = machineFacts();
    const times = cpuTimes();
    const { described, problems } = await askHosts(runners, hosts);
    const { profile, rounds } = options;
    const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
    const plan: PromisePlan = { scenarios, hosts, profile, seed, ...(rounds === undefined ? {} : { rounds }) };
    const collect = new Collector(scenarios);
    let since = performance.now();
    const done = await measurePromises(
      plan,
      measurements,
      {
        probe: (host, name, params, timeoutMs = PROBE_MS_MAX) =>
          runners.probe(host, { name, params: params as Json }, timeoutMs),
        problems,
        nativeFiles: () => native.get(),
      },
      collect,
      interruption.signal,
      (host, scenario, failure) => {
        const took = duration(performance.now() - since);
        since = performance.now();
        printError(`${scenario} on ${host}: ${failure === undefined ? took : `failed: ${failure.message}`}\n`);
      },
    );
    const runtimes = Object.fromEntries(Object.entries(described).map(([host, { runtime }]) => [host, runtime]));
    const results = promiseResults(
      {
        profile,
        seed,
        startedAt,
        durationMs: performance.now() - begin,
        planned: plannedMeasurements(plan).length,
        done,
        interrupted: interruption.signal.aborted,
        runtimes,
        machine: { ...machine, stealPercent: stealPercent(times, cpuTimes()) },
        build: buildFacts(described.chromium?.runtime ?? null, PROMISE_PEERS),
      },
      collect,
    );
    const say = options.json === true ? printError : print;
    say(`${promiseTable(results)}\n\nWhat to doubt:\n`);
    for (const { message, next } of results.warnings) say(`- ${message} Next: ${next}.\n`);
    if (options.json === true) printJson(results);
    // Results that do not match the schema are printed but not written.
    assertResults(results);
    const file = path.join(out, PROMISES_FILE);
    await keepRun(out, async (folder) =>
      writeFiles({ [path.join(folder, PROMISES_FILE)]: `${JSON.stringify(results)}\n` }),
    );
    const shown = path.relative(process.cwd(), file);
    say(`\n${shown} written after ${duration(performance.now() - begin)}.\n`);
    if (interruption.signal.aborted) return 130;
    return results.cells.some(({ status }) => status === "failed") ? 1 : 0;
  } finally {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onInterrupt);
    await runners.close();
    native.remove();
  }
}

/** Prints the scenarios of the profile, with their targets. Returns the exit status. */
export function listPromises(names: readonly string[], json = false): number {
  const scenarios = selectPromises(loadPromiseScenarios(), names);
  const say = (lines: readonly string[]) => print(`${lines.join("\n")}\n`);
  if (json) {
    printJson({ version: 1, scenarios });
    return 0;
  }
  for (const { name, question, hosts, promises: all } of scenarios) {
    say(fitted(`${name}: ${question} [${hosts.join(", ")}]`, columnsOf(), 2));
    for (const { id, what, sense, value, unit } of all) {
      const target = value === undefined ? "" : ` (${sense} ${value}${unit === "ratio" ? "" : ` ${unit}`})`;
      say(columned(`  ${id} `, `${what}${target}`, 27, columnsOf()));
    }
  }
  return 0;
}

/** Returns the named scenarios in the order of the table. Returns all scenarios if `names` is empty. */
export function selectPromises(all: readonly PromiseScenario[], names: readonly string[]): PromiseScenario[] {
  const stranger = names.find((name) => !all.some((scenario) => scenario.name === name));
  if (stranger !== undefined) {
    const known = all.map(({ name }) => name);
    throw new UsageError(
      `unknown scenario "${stranger}" in the profile promises. Scenarios: ${known.join(", ")}.${didYouMean(stranger, known)}`,
    );
  }
  return names.length === 0 ? [...all] : all.filter(({ name }) => names.includes(name));
}
