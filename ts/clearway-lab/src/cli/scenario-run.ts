// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab --profile NAME`: plans the cells of scenarios, measures, writes and prints a run.
import path from "node:path";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { IdleWatch } from "../machine/idle-watch.js";
import { OtherLoad, withOtherCores } from "../machine/other-load.js";
import { compilePeers, PEERS_VARIABLE } from "../native/compile.js";
import type { HostName } from "../protocol/message.js";
import { duration } from "../report/duration.js";
import { execute } from "../run/execute.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { resultsOf } from "../run/results.js";
import { FIXTURE_VARIABLE, startFixture } from "../runner/fixture.js";
import { PROFILE_VARIABLE } from "../runner/profile.js";
import { Runners } from "../runner/runners.js";
import { type PlannedCell, planOrder } from "../scenario/plan.js";
import { inOrder, type Scenario } from "../scenario/scenario.js";
import { FailedError } from "./errors.js";
import { withComparedFigure } from "./foreign.js";
import { ForeignUnits } from "./foreign-units.js";
import { askHosts, type Hosts } from "./hosts.js";
import { printJson, summaryJson } from "./json.js";
import { keepRun } from "./keep-run.js";
import { openOut } from "./out-folder.js";
import { type Choice, choose, LIMITS, planChoice } from "./plan-run.js";
import { print, printError } from "./print.js";
import { openProgress } from "./progress.js";
import { RUN_FILES, writeRun } from "./run-files.js";
import type { ScenarioOptions } from "./scenario-options.js";
import { leavesOut } from "./select.js";
import { summary } from "./terminal.js";

/** Measures scenarios and returns the exit status. `choose` says which. */
export async function runScenarios(what: readonly string[], options: ScenarioOptions): Promise<number> {
  const choice = await choose(what, options);
  const out = openOut(options.out, RUN_FILES);
  try {
    return await measure(choice, out.path, options);
  } finally {
    out.close();
  }
}

async function measure(choice: Choice, out: string, options: ScenarioOptions): Promise<number> {
  const { scenarios, experiments } = choice;
  const isLeftOut = leavesOut(scenarios, options.without ?? []);
  const foreign = options.runner ?? {};
  const begin = performance.now();
  const startedAt = new Date().toISOString();
  const interruption = new AbortController();
  const fixture = await startFixture();
  const native = scenarios.some(({ family, name }) => family === "memory" || name === "channel-native")
    ? compilePeers()
    : undefined;
  const runners = new Runners(
    {
      [FIXTURE_VARIABLE]: JSON.stringify(fixture.fixture),
      [PROFILE_VARIABLE]: options.profile,
      ...(native && { [PEERS_VARIABLE]: JSON.stringify(native.peers) }),
    },
    options.jdk,
    foreign,
  );
  const onInterrupt = () => {
    if (interruption.signal.aborted) process.exit(130);
    printError("\ninterrupted: keeping the finished measurements (press Ctrl-C again to exit at once)\n");
    interruption.abort();
    runners.interrupt();
  };
  for (const signal of SIGNALS) process.on(signal, onInterrupt);
  const watch = new IdleWatch();
  try {
    const machine = machineFacts();
    const times = cpuTimes();
    const otherLoad = new OtherLoad();
    const hosts = await askHosts(runners, options.host, options.jdk);
    const planned = planChoice(choice, options, hosts);
    const cells = planned.filter((cell) => !isLeftOut(cell));
    refuseEmpty(cells, hosts, options.host);
    const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
    const order = planOrder(cells, seed);
    announce(
      cells,
      order.length,
      order.reduce((sum, { cell }) => sum + cell.estimateMs, 0),
      options,
    );
    const progress = openProgress(process.stderr);
    const facts = Object.fromEntries(
      Object.entries(hosts.described).map(([host, { mechanisms: _, ...own }]) => [host, own]),
    );
    const build = buildFacts(hosts.described.chromium?.runtime ?? null);
    const units = new ForeignUnits();
    const execution = await execute(
      cells,
      order,
      {
        measure: async (cell, request, timeoutMs) => {
          const measurement = await runners.measure(cell.host, request, timeoutMs, cell.cores);
          if (!Object.hasOwn(foreign, cell.host)) return measurement;
          const { name, compare } = cell.scenario;
          return units.converted(withComparedFigure(measurement, compare), name, cell.host);
        },
        beforeMeasurement: () => otherLoad.beforeMeasurement(),
        watch: () => {
          watch.begin();
          return () => watch.end();
        },
        nowMs: () => performance.now(),
      },
      LIMITS[options.profile],
      interruption.signal,
      (step) => progress.step(step),
    );
    progress.stop();
    const record: RunRecord = {
      version: RECORD_VERSION,
      profile: options.profile,
      seed,
      startedAt,
      durationMs: performance.now() - begin,
      planned: order.length - execution.skipped,
      done: execution.done,
      interrupted: execution.interrupted,
      budgetEnded: execution.budgetEnded,
      machine: { ...machine, ...withOtherCores(otherLoad), stealPercent: stealPercent(times, cpuTimes()) },
      build,
      hosts: facts,
      scenarios: scenarios.map(describeScenario),
      ...(experiments !== undefined && { experiments }),
      cells: execution.cells,
    };
    const results = resultsOf(record);
    await keepRun(out, (folder) => writeRun(folder, results, record));
    if (options.json === true) printJson(summaryJson(results, record, out));
    else print(summary(results, record) + "\n");
    const shown = path.relative(process.cwd(), out) || ".";
    (options.json === true ? printError : print)(
      `${path.join(shown, "report.html")} and ${path.join(shown, "results.json")} written after ${duration(performance.now() - begin)}.\n`,
    );
    if (execution.interrupted) return 130;
    return results.cells.some(({ status }) => status === "failed") ? 1 : 0;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onInterrupt);
    await Promise.all([runners.close(), watch.close(), fixture.close()]);
    native?.remove();
  }
}

/** The signals that end a run early: Ctrl-C, `kill`, and a closed terminal. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Throws a FailedError if no cell can run, with each host's reason. A run would only write an empty report. */
function refuseEmpty(cells: readonly PlannedCell[], { problems }: Hosts, hosts: readonly HostName[]): void {
  if (cells.some(({ unavailable }) => unavailable === undefined)) return;
  const reasons = inOrder(hosts).flatMap((host) => problems[host] ?? []);
  const own = [...new Set([...reasons, ...cells.flatMap(({ unavailable }) => unavailable ?? [])])];
  throw new FailedError(
    `nothing can be measured on ${hosts.join(" and ")}: ${own.join("; ") || "no cell has parameters for it in this profile"}`,
    "clearway lab list --profile full shows the cells that can run here, clearway hosts what is missing",
  );
}

function announce(cells: PlannedCell[], measurements: number, estimateMs: number, options: ScenarioOptions): void {
  const can = cells.filter(({ unavailable }) => unavailable === undefined).length;
  printError(
    `${can} cells on ${options.host.join(" and ")}, ${measurements} measurements, about ${duration(estimateMs)} (profile ${options.profile})\n`,
  );
}

function describeScenario(scenario: Scenario): RunRecord["scenarios"][number] {
  const { name, family, question, shows, topology, control, reference, compare } = scenario;
  return { name, family, question, shows, topology, control, reference, compare };
}
