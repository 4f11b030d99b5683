// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway bench FILE`: measures the ways of a user's own scenario, with the method and the report of the lab.
import { existsSync } from "node:fs";
import path from "node:path";
import { type Command, Option } from "commander";
import { didYouMean } from "../bench/nearest-name.js";
import { type BenchPlan, planBench } from "../bench/plan.js";
import type { ScenarioInfo } from "../bench/settings.js";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { IdleWatch } from "../machine/idle-watch.js";
import { OtherLoad, withOtherCores } from "../machine/other-load.js";
import type { Json } from "../protocol/message.js";
import { duration } from "../report/duration.js";
import { isSettled } from "../run/answer.js";
import { execute } from "../run/execute.js";
import { RECORD_VERSION, type RunRecord } from "../run/record.js";
import { resultsOf } from "../run/results.js";
import { UserProcesses } from "../runner/user-process.js";
import { planOrder } from "../scenario/plan.js";
import { benchSummary } from "./bench-summary.js";
import { parseDuration } from "./duration-option.js";
import { keepRun } from "./keep-run.js";
import { openOut } from "./out-folder.js";
import { print, printError } from "./print.js";
import { openProgress } from "./progress.js";
import { RUN_FILES, writeRun } from "./run-files.js";
import { parseRounds, parseSeed, UsageError } from "./select.js";
import { compileFile, findFile } from "./user-file.js";

interface BenchOptions {
  rounds?: number;
  time: number;
  timeout: number;
  out: string;
  seed?: number;
  against?: string;
  json?: boolean;
}

/** The defaults of --time and --timeout, in milliseconds. */
const TIME_MS = 300;
const TIMEOUT_MS = 60_000;

/** The files that `clearway bench` looks for without an argument, in this order. `clearway init bench` writes the first. */
export const DEFAULT_FILES = ["bench.ts", "bench.mts", "bench.js", "bench.mjs"];

export function addBench(program: Command): void {
  program
    .command("bench")
    .description("measure the ways of your own scenario; `clearway init bench` writes an example")
    .argument("[file]", "a TypeScript or JavaScript file that exports a scenario; default: bench.ts")
    .option("--against <way>", "the way that the others are compared with; default: direct, or the first way")
    .option(
      "--rounds <number>",
      "rounds of each way and input; default: five, and in the first minute up to nine while undecided",
      parseRounds,
    )
    .addOption(
      new Option("--time <duration>", "how long each measurement times calls, such as 2s")
        .argParser(parseDuration)
        .default(TIME_MS, "300ms"),
    )
    .addOption(
      new Option("--timeout <duration>", "limit of a measurement; a way that takes longer has failed")
        .argParser(parseDuration)
        .default(TIMEOUT_MS, "60s"),
    )
    .option("--out <dir>", "output folder", "bench-out")
    .option("--seed <number>", "repeat the order of an earlier run", parseSeed)
    .option("--json", "print results.json instead of the summary")
    .action(async (file: string | undefined, options: BenchOptions) => {
      if (options.timeout <= options.time)
        throw new UsageError(`--timeout must be longer than --time: ${options.timeout} ms, ${options.time} ms`);
      process.exitCode = await bench(file ?? defaultFile(), options);
    });
}

function defaultFile(): string {
  const found = DEFAULT_FILES.find((name) => existsSync(name));
  if (found === undefined)
    throw new UsageError(
      "name a scenario file, or write an example with `clearway init bench`: there is no bench.ts here",
    );
  return found;
}

/** Runs a scenario. Returns the exit status. */
async function bench(name: string, options: BenchOptions): Promise<number> {
  const file = findFile(name);
  const out = openOut(options.out, RUN_FILES, { parents: true });
  try {
    return await measure(name, file, out.path, options);
  } finally {
    out.close();
  }
}

async function measure(name: string, file: string, out: string, options: BenchOptions): Promise<number> {
  const begin = performance.now();
  const startedAt = new Date().toISOString();
  const compiled = await compileFile(name, [{ file }]);
  const { time: timeMs, timeout: timeoutMs } = options;
  const processes = new UserProcesses({ urls: compiled.urls, timeMs, timeoutMs, unit: "ms" });
  const interruption = new AbortController();
  const onInterrupt = () => {
    processes.interrupt();
    if (interruption.signal.aborted) {
      compiled.remove();
      process.exit(130);
    }
    printError("\ninterrupted: keeping the finished measurements (press Ctrl-C again to exit at once)\n");
    interruption.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onInterrupt);
  const watch = new IdleWatch();
  try {
    const info = await readScenario(name, processes, interruption.signal);
    if (info === undefined) return 130;
    const reference = referenceOf(info, options.against);
    const verified = await verify(info, reference, processes, interruption.signal);
    const machine = machineFacts();
    const times = cpuTimes();
    const otherLoad = new OtherLoad();
    const plan = planBench(info, {
      name: path.basename(file, path.extname(file)),
      reference,
      rounds: options.rounds,
      timeMs,
      callMs: (way, input) => verified.callMs.get(keyOf(way, input)),
    });
    const facts = interruption.signal.aborted ? undefined : await processes.describe().catch(() => undefined);
    const hosts: RunRecord["hosts"] = facts === undefined ? {} : { node: withoutMechanisms(facts) };
    const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
    const order = planOrder(plan.cells, seed);
    announce(
      name,
      info,
      plan,
      order.length,
      order.reduce((sum, { cell }) => sum + cell.estimateMs, 0),
      options,
    );
    const progress = openProgress(process.stderr);
    const failures = new Map(verified.failures);
    const execution = await execute(
      plan.cells,
      order,
      {
        measure: async (cell, request) => {
          const input = (cell.params["input"] as string | undefined) ?? null;
          const key = keyOf(cell.mechanism.name, input);
          const failure = failures.get(key);
          if (failure !== undefined) throw new Error(failure);
          return processes.measure(request, unitOf(info, input, verified.callMs)).catch((error: Error) => {
            // A way that failed once is not measured again: a way that hangs would take the limit in every round.
            if (!interruption.signal.aborted) failures.set(key, error.message);
            throw error;
          });
        },
        beforeMeasurement: () => otherLoad.beforeMeasurement(),
        watch: () => {
          watch.begin();
          return () => watch.end();
        },
        nowMs: () => performance.now(),
      },
      { budgetMs: Number.POSITIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
      interruption.signal,
      (step) => progress.step(step),
      (measured, cell) =>
        (options.rounds === undefined && performance.now() - begin > MORE_ROUNDS_MS) ||
        isSettled({ cells: [...measured], hosts }, plan.questions, cell),
    );
    progress.stop();
    const record: RunRecord = {
      version: RECORD_VERSION,
      profile: "bench",
      command: commandOf(name, options),
      seed,
      startedAt,
      durationMs: performance.now() - begin,
      planned: order.length - execution.skipped,
      done: execution.done,
      interrupted: execution.interrupted,
      budgetEnded: false,
      machine: { ...machine, ...withOtherCores(otherLoad), stealPercent: stealPercent(times, cpuTimes()) },
      build: buildFacts(null, []),
      hosts,
      scenarios: [describeScenario(plan)],
      questions: plan.questions,
      cells: execution.cells,
    };
    const results = resultsOf(record);
    await keepRun(out, (folder) => writeRun(folder, results, record));
    if (options.json === true) print(JSON.stringify(results, null, 2) + "\n");
    else {
      print(benchSummary(results, record) + "\n");
      const shown = path.relative(process.cwd(), out) || ".";
      const took = duration(performance.now() - begin);
      print(`${path.join(shown, "report.html")} and results.json written after ${took}.\n`);
    }
    if (execution.interrupted) return 130;
    return results.cells.some(({ status }) => status === "failed") ? 1 : 0;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onInterrupt);
    await watch.close();
    compiled.remove();
  }
}

/** Time after which the rounds end that an undecided answer gets beyond the fifth, in milliseconds. A user waits for them. */
const MORE_ROUNDS_MS = 60_000;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const keyOf = (way: string, input: string | null) => JSON.stringify([way, input]);

/** Reads the scenario. Returns undefined if the user interrupted. A file that is not a scenario is wrong usage. */
async function readScenario(
  name: string,
  processes: UserProcesses,
  signal: AbortSignal,
): Promise<ScenarioInfo | undefined> {
  try {
    return (await processes.probe("read", {})) as unknown as ScenarioInfo;
  } catch (error) {
    if (signal.aborted) return undefined;
    throw new UsageError(`${name}: ${(error as Error).message}`);
  }
}

function referenceOf({ ways }: ScenarioInfo, against: string | undefined): string {
  if (against === undefined) return ways.includes("direct") ? "direct" : (ways[0] as string);
  if (ways.includes(against)) return against;
  throw new UsageError(`--against ${against}: there is no such way${didYouMean(against, ways)} (${ways.join(", ")})`);
}

/** Calls each way once with each input, and verifies the results. A way that fails is reported and not measured. */
async function verify(info: ScenarioInfo, reference: string, processes: UserProcesses, signal: AbortSignal) {
  const callMs = new Map<string, number>();
  const failures = new Map<string, string>();
  // The reference is verified first: the others are compared with it.
  const ways = [reference, ...info.ways.filter((way) => way !== reference)];
  for (const input of info.inputs) {
    for (const way of ways) {
      if (signal.aborted) return { callMs, failures };
      const compared = !info.hasCheck && way !== reference ? { reference } : {};
      const failed = failures.get(keyOf(reference, input));
      try {
        if ("reference" in compared && failed !== undefined)
          throw new Error(
            `its result cannot be verified, because ${reference} failed; add \`check: (result, input) => …\``,
          );
        const answer = await processes.probe("verify", { way, input, ...compared } as Json);
        callMs.set(keyOf(way, input), (answer as { callMs: number }).callMs);
      } catch (error) {
        if (signal.aborted) return { callMs, failures };
        failures.set(keyOf(way, input), (error as Error).message);
        const where = input === null ? way : `${way} with input ${input}`;
        printError(`${where} is left out: ${(error as Error).message}\n`);
      }
    }
  }
  return { callMs, failures };
}

/** All ways have one unit for an input, so that a reader can compare them: microseconds if a call takes less than a millisecond. */
function unitOf({ ways }: ScenarioInfo, input: string | null, callMs: ReadonlyMap<string, number>): "us" | "ms" {
  return ways.some((way) => (callMs.get(keyOf(way, input)) ?? 1) < 1) ? "us" : "ms";
}

function announce(
  name: string,
  { ways, inputs }: ScenarioInfo,
  { questions }: BenchPlan,
  measurements: number,
  estimateMs: number,
  { rounds, time }: BenchOptions,
): void {
  const many = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const upTo = rounds === undefined && questions.length > 0 ? "up to " : "";
  printError(
    `${name}: ${many(ways.length, "way")}, ${many(inputs.length, "input")}; ${upTo}${many(measurements, "measurement")} of ${time} ms, ${upTo}about ${duration(estimateMs)}\n`,
  );
}

function commandOf(name: string, { against, rounds, time, timeout }: BenchOptions): string {
  const options = [
    ...(against === undefined ? [] : ["--against", against]),
    ...(rounds === undefined ? [] : ["--rounds", String(rounds)]),
    ...(time === TIME_MS ? [] : ["--time", `${time}ms`]),
    ...(timeout === TIMEOUT_MS ? [] : ["--timeout", `${timeout}ms`]),
  ];
  return ["clearway bench", /\s/.test(name) ? JSON.stringify(name) : name, ...options].join(" ");
}

function withoutMechanisms<T extends { mechanisms: unknown }>({ mechanisms: _, ...facts }: T): Omit<T, "mechanisms"> {
  return facts;
}

function describeScenario({ scenario }: BenchPlan): RunRecord["scenarios"][number] {
  const { name, family, question, shows, topology, control, reference, compare } = scenario;
  return { name, family, question, shows, topology, control, reference, compare };
}
