// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab --profile published`: measures the published experiments, each cell once a round, and writes the record. It decides nothing:
// docs/experiments.md is made from its record.
import path from "node:path";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { didYouMean } from "../bench/nearest-name.js";
import { BROWSER_NAMES } from "../browser/open.js";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { IdleWatch } from "../machine/idle-watch.js";
import { compilePeers, PEERS_VARIABLE } from "../native/peers.js";
import type { HostName } from "../protocol/message.js";
import { duration } from "../report/number.js";
import { execute, type Limits } from "../run/execute.js";
import { cellKey, readKept } from "../run/kept.js";
import { RECORD_VERSION, type RunRecord, resultsOf } from "../run/record.js";
import { FIXTURE_VARIABLE, startFixture } from "../runner/fixture.js";
import { Runners } from "../runner/runners.js";
import { type Experiment, loadExperiments, withExperiments } from "../scenario/experiment.js";
import { type PlannedCell, planCells, planOrder } from "../scenario/plan.js";
import { loadScenarios, type Scenario } from "../scenario/scenario.js";
import { interruptible } from "./engine-run.js";
import { askHosts, missingMechanism } from "./hosts-command.js";
import { keepRun, openOut } from "./out-folder.js";
import { columned, columnsOf, FailedError, openProgress, print, printError, printJson, UsageError } from "./print.js";
import { RECORD_FILE } from "./run-files.js";

export interface PublishedOptions {
  host: HostName[];
  out: string;
  rounds?: number;
  seed?: number;
  json?: boolean;
  /** The folder of a kept run. Only what it lacks is measured, with the sets that an hour has no room for. */
  addTo?: string;
}

const MINUTE_MS = 60_000;

/** The run ends within an hour, and none of its measurements takes more than a minute. */
export const LIMITS: Limits = { budgetMs: 56 * MINUTE_MS, endMs: 58.5 * MINUTE_MS };

/** Measures the experiments, or the named scenarios of them. Returns the exit status. */
export async function published(names: readonly string[], options: PublishedOptions): Promise<number> {
  const own = loadScenarios();
  const all = loadExperiments(own);
  const known = withExperiments(own, all, options.addTo !== undefined);
  const scenarios = chosenOf(names, known);
  const named = new Set(scenarios.map(({ name }) => name));
  const experiments = all.filter(({ measures }) => measures.some(({ scenario }) => named.has(scenario)));
  const kept = options.addTo === undefined ? undefined : keptCells(options.addTo);
  const out = openOut(options.out, [RECORD_FILE]);
  try {
    return await measure(scenarios, experiments, kept, out.path, options);
  } finally {
    out.close();
  }
}

/** Returns the named scenarios, or all. Throws a UsageError for an unknown name. */
function chosenOf(names: readonly string[], known: readonly Scenario[]): readonly Scenario[] {
  const stranger = names.find((name) => !known.some((each) => each.name === name));
  if (stranger !== undefined) {
    const all = known.map(({ name }) => name);
    throw new UsageError(`unknown scenario "${stranger}".${didYouMean(stranger, all)} Scenarios: ${all.join(", ")}`);
  }
  return names.length === 0 ? known : known.filter(({ name }) => names.includes(name));
}

async function measure(
  scenarios: readonly Scenario[],
  experiments: Experiment[],
  kept: ReadonlySet<string> | undefined,
  out: string,
  options: PublishedOptions,
): Promise<number> {
  const begin = performance.now();
  const startedAt = new Date().toISOString();
  const fixture = await startFixture();
  const native = scenarios.some(({ family }) => family === "memory") ? compilePeers() : undefined;
  const runners = new Runners({
    [FIXTURE_VARIABLE]: JSON.stringify(fixture.fixture),
    ...(native && { [PEERS_VARIABLE]: JSON.stringify(native.peers) }),
  });
  const watch = new IdleWatch();
  const progress = openProgress(process.stderr);
  try {
    return await interruptible(
      () => runners.interrupt(),
      async (signal) => {
        const machine = machineFacts();
        const times = cpuTimes();
        const hosts = await askHosts(runners, options.host);
        const planned = planCells(scenarios, options.host, hosts.problems, options.rounds);
        const lacked = planned.filter((cell) => kept?.has(keyOf(cell)) !== true);
        if (lacked.length === 0) {
          printError(`${options.addTo} has all of it: nothing is measured\n`);
          return 0;
        }
        const cells = lacked.map((cell): PlannedCell => {
          const { host, scenario, mechanism } = cell;
          const why = cell.unavailable ?? missingMechanism(hosts.described[host], scenario.name, mechanism.name);
          return why === undefined ? cell : { ...cell, unavailable: why };
        });
        if (cells.every(({ unavailable }) => unavailable !== undefined))
          throw new FailedError(
            `nothing can be measured on ${options.host.join(" and ")}: ${Object.values(hosts.problems).join("; ")}`,
            "clearway hosts shows what is missing",
          );
        const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
        const order = planOrder(cells, seed);
        const estimateMs = order.reduce((sum, { cell }) => sum + cell.estimateMs, 0);
        printError(`${cells.length} cells, ${order.length} measurements, about ${duration(estimateMs)}\n`);
        const execution = await execute(
          cells,
          order,
          {
            measure: (cell, request, timeoutMs) => runners.measure(cell.host, request, timeoutMs, cell.cores),
            watch: () => {
              watch.begin();
              return () => watch.end();
            },
            nowMs: () => performance.now(),
          },
          LIMITS,
          signal,
          (step) => progress.step(step),
        );
        progress.stop();
        const record: RunRecord = {
          ...{ version: RECORD_VERSION, profile: "published", seed, startedAt, durationMs: performance.now() - begin },
          ...{ planned: order.length, done: execution.done, interrupted: execution.interrupted },
          budgetEnded: execution.budgetEnded,
          machine: { ...machine, stealPercent: stealPercent(times, cpuTimes()) },
          build: buildFacts(Object.fromEntries(BROWSER_NAMES.map((name) => [name, hosts.described[name]?.runtime]))),
          hosts: Object.fromEntries(
            Object.entries(hosts.described).map(([host, { mechanisms: _, ...facts }]) => [host, facts]),
          ),
          ...{ experiments, cells: execution.cells },
        };
        const text = JSON.stringify(record) + "\n";
        await keepRun(out, async (folder) => writeFiles({ [path.join(folder, RECORD_FILE)]: text }));
        if (options.json === true) printJson(resultsOf(record));
        else print(textOf(record));
        const shown = path.join(path.relative(process.cwd(), out) || ".", RECORD_FILE);
        printError(`${shown} written after ${duration(performance.now() - begin)}.\n`);
        if (execution.interrupted) return 130;
        return execution.cells.some(({ failure, rounds }) => failure !== undefined && rounds.length === 0) ? 1 : 0;
      },
    );
  } finally {
    progress.stop();
    await Promise.all([runners.close(), watch.close(), fixture.close()]);
    native?.remove();
  }
}

/** Returns the keys of the cells that the kept run in `folder` measured. */
function keptCells(folder: string): ReadonlySet<string> {
  let kept: ReturnType<typeof readKept>;
  try {
    kept = readKept(folder);
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`--add-to: ${message}; name the folder of a kept run, such as lab/records/published`);
  }
  return new Set(kept.cells.filter(({ rounds }) => rounds.length > 0).map(cellKey));
}

const keyOf = ({ scenario, host, mechanism, params }: PlannedCell): string =>
  cellKey({ scenario: scenario.name, host, mechanism: mechanism.name, params });

/** Lists the scenarios of the published experiments, or the named ones. Returns the exit status. */
export function listPublished(names: readonly string[]): number {
  const own = loadScenarios();
  for (const { name, question } of chosenOf(names, withExperiments(own, loadExperiments(own))))
    print(columned(name, question, 28, columnsOf()).join("\n") + "\n");
  return 0;
}

/** Counts the cells, and names those that failed. */
function textOf({ cells, planned, done }: RunRecord): string {
  const failed = cells.filter(({ failure, rounds }) => failure !== undefined && rounds.length === 0);
  return [
    `${done} of ${planned} measurements of ${cells.length} cells.`,
    ...failed.map(
      ({ scenario, mechanism, host, failure }) => `- ${scenario}/${mechanism} on ${host} failed: ${failure}`,
    ),
    "",
  ].join("\n");
}
