// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab`: plans, measures, writes and prints a run.
import { mkdirSync } from "node:fs";
import path from "node:path";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { IdleWatch } from "../machine/idle-watch.js";
import { runnerPinningProblem } from "../machine/thread-pin.js";
import { compilePeers, PEERS_VARIABLE } from "../native/compile.js";
import type { HostName } from "../protocol/message.js";
import { duration } from "../report/duration.js";
import { isSettled } from "../run/answer.js";
import { execute, type Limits } from "../run/execute.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { resultsOf } from "../run/results.js";
import { FIXTURE_VARIABLE, startFixture } from "../runner/fixture.js";
import { PROFILE_VARIABLE } from "../runner/profile.js";
import { Runners } from "../runner/runners.js";
import { loadScenarios } from "../scenario/load.js";
import { type PlannedCell, planCells, planOrder } from "../scenario/plan.js";
import { loadQuestions, type Question, withoutPinning } from "../scenario/question.js";
import { planQuestions, ROUNDS_MIN } from "../scenario/question-plan.js";
import type { ProfileName, Scenario } from "../scenario/scenario.js";
import { askHosts, type Hosts, missingMechanism } from "./hosts.js";
import { openProgress } from "./progress.js";
import { writeRun } from "./run-files.js";
import { selectScenarios } from "./select.js";
import { summary } from "./terminal.js";

export interface LabOptions {
  host: HostName[];
  profile: ProfileName;
  out: string;
  /** Number of rounds of each cell. Default: five to nine in the profile quick, the scenario's number in the profile full. */
  rounds?: number;
  seed?: number;
  /** Release of the JDK for host `jvm`. Default: the newest installed release. */
  jdk?: number;
}

/**
 * The time limits of each profile. The quick profile ends within five minutes: after 265 s only first rounds start, and after
 * 288 s no measurement starts. No measurement of the quick profile takes ten seconds.
 */
const LIMITS: Record<ProfileName, Limits> = {
  quick: { budgetMs: 265_000, endMs: 288_000 },
  full: { budgetMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
};

/**
 * Runs the lab and returns the exit status. The quick profile without names answers the questions. With names, and in the profile full, the
 * lab measures scenarios.
 */
export async function lab(what: readonly string[], options: LabOptions): Promise<number> {
  const all = loadScenarios();
  const questions = what.length === 0 && options.profile === "quick" ? questionsHere(all) : undefined;
  const scenarios = questions === undefined ? selectScenarios(all, what) : askedScenarios(all, questions);
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
  );
  const onInterrupt = () => {
    if (interruption.signal.aborted) process.exit(130);
    process.stderr.write("\ninterrupted: keeping the finished measurements (press Ctrl-C again to exit at once)\n");
    interruption.abort();
    runners.interrupt();
  };
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onInterrupt);
  const watch = new IdleWatch();
  try {
    const machine = machineFacts();
    const times = cpuTimes();
    const hosts = await askHosts(runners, options.host, options.jdk);
    const cells = markMissing(
      questions === undefined
        ? planCells(scenarios, options.profile, options.host, hosts.problems, roundsOf(options))
        : planQuestions(questions, scenarios, options.host, hosts.problems, options.rounds),
      hosts,
    );
    const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
    const order = planOrder(cells, seed);
    announce(
      cells,
      order.length,
      order.reduce((sum, { cell }) => sum + cell.estimateMs, 0),
      options,
      questions,
    );
    const progress = openProgress(process.stderr);
    const facts = Object.fromEntries(
      Object.entries(hosts.described).map(([host, { mechanisms: _, ...own }]) => [host, own]),
    );
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
      LIMITS[options.profile],
      interruption.signal,
      (step) => progress.step(step),
      (measured, cell) => questions !== undefined && isSettled({ cells: [...measured], hosts: facts }, questions, cell),
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
      machine: { ...machine, stealPercent: stealPercent(times, cpuTimes()) },
      build: buildFacts(hosts.described.chromium?.runtime ?? null),
      hosts: facts,
      scenarios: scenarios.map(describeScenario),
      ...(questions === undefined ? {} : { questions }),
      cells: execution.cells,
    };
    const results = resultsOf(record);
    const out = path.resolve(options.out);
    mkdirSync(out, { recursive: true });
    await writeRun(out, results, record);
    process.stdout.write(summary(results, record) + "\n");
    const shown = path.relative(process.cwd(), out) || ".";
    process.stdout.write(
      `${path.join(shown, "report.html")} and ${path.join(shown, "results.json")} written after ${duration(performance.now() - begin)}.\n`,
    );
    if (execution.interrupted) return 130;
    return results.cells.some(({ status }) => status === "failed") ? 1 : 0;
  } finally {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onInterrupt);
    await Promise.all([runners.close(), watch.close(), fixture.close()]);
    native?.remove();
  }
}

/** Returns the questions for this machine, which may be unable to pin threads to cores. */
function questionsHere(all: readonly Scenario[]): Question[] {
  const questions = loadQuestions(all);
  return runnerPinningProblem() === undefined ? questions : withoutPinning(questions);
}

/** Returns the number of rounds for every cell, or undefined for the numbers of the scenarios. */
function roundsOf({ rounds, profile }: LabOptions): number | undefined {
  return rounds ?? (profile === "quick" ? ROUNDS_MIN : undefined);
}

/** Returns the scenarios that the questions compare. */
function askedScenarios(all: readonly Scenario[], questions: readonly Question[]): Scenario[] {
  const asked = new Set(questions.flatMap(({ comparisons }) => comparisons.map(({ scenario }) => scenario)));
  return all.filter(({ name }) => asked.has(name));
}

function markMissing(cells: PlannedCell[], hosts: Hosts): PlannedCell[] {
  return cells.map((cell) => {
    const missing = missingMechanism(hosts.described[cell.host], cell.scenario.name, cell.mechanism.name);
    const unavailable = cell.unavailable ?? missing;
    return unavailable === undefined ? cell : { ...cell, unavailable };
  });
}

function announce(
  cells: PlannedCell[],
  measurements: number,
  estimateMs: number,
  options: LabOptions,
  questions: readonly Question[] | undefined,
): void {
  const can = cells.filter(({ unavailable }) => unavailable === undefined).length;
  process.stderr.write(
    `${can} cells on ${options.host.join(" and ")}, ${questions === undefined ? "" : "up to "}${measurements} measurements, about ${duration(estimateMs)} (profile ${options.profile})\n`,
  );
}

function describeScenario(scenario: Scenario): RunRecord["scenarios"][number] {
  const { name, family, question, shows, topology, control, reference, compare } = scenario;
  return { name, family, question, shows, topology, control, reference, compare };
}
