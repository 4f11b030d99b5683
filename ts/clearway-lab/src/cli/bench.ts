// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway bench FILE`: measures the ways of a user's own scenario with the engine of the lab.
import { existsSync } from "node:fs";
import { type Command, Option } from "commander";
import { type BenchPlan, callsOf, comparisonsOf, controlOf, wayWith } from "../bench/comparisons.js";
import { orMeant } from "../bench/nearest-name.js";
import type { ScenarioInfo } from "../bench/steps.js";
import type { Comparison } from "../engine/comparison.js";
import { Arms } from "../engine/open-arm.js";
import type { Json } from "../protocol/message.js";
import { duration } from "../report/number.js";
import { UserProcesses, wayCommand } from "../runner/user-process.js";
import { interruptible, runEngine, statusOf } from "./engine-run.js";
import { openOut } from "./out-folder.js";
import { printError } from "./print.js";
import { RUN_FILES } from "./run-files.js";
import {
  compileFile,
  findFile,
  parseDuration,
  parseSeconds,
  parseSeed,
  shellWord,
  TIMEOUT_MS,
  timeoutWords,
  UsageError,
} from "./select.js";

interface BenchOptions {
  time?: number;
  timeout: number;
  out: string;
  seed?: number;
  against?: string;
  json?: boolean;
}

/** Time of a run for each way and input, in seconds. */
const TIME_EACH_S = 20;

/** The files that `clearway bench` looks for without an argument, in this order. `clearway init bench` writes the first. */
export const DEFAULT_FILES = ["bench.ts", "bench.mts", "bench.js", "bench.mjs"];

export function addBench(program: Command): void {
  program
    .command("bench")
    .description("measure the ways of your own scenario; `clearway init bench` writes an example")
    .argument("[file]", "a TypeScript or JavaScript file that exports a scenario; default: bench.ts")
    .option("--against <way>", "the way that the others are compared with; default: direct, or the first way")
    .option("--time <seconds>", "time of the run; default: 20 for each input of each way but the first", parseSeconds)
    .addOption(timeoutOption())
    .option("--out <dir>", "output folder", "bench-out")
    .option("--seed <number>", "repeat the order of an earlier run", parseSeed)
    .option("--json", "print results.json instead of the summary")
    .action(async (file: string | undefined, options: BenchOptions) => {
      process.exitCode = await bench(file ?? defaultFile(), options);
    });
}

export const timeoutOption = (): Option =>
  new Option("--timeout <duration>", "limit of a call with its setup; a way that takes longer has failed")
    .argParser(parseDuration)
    .default(TIMEOUT_MS, "60s");

export const many = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

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
  const compiled = await compileFile(name, [{ file }]);
  const settings = { urls: compiled.urls, timeoutMs: options.timeout };
  const processes = new UserProcesses(settings);
  const arms = new Arms();
  const interrupt = () => {
    processes.interrupt();
    arms.interrupt();
  };
  try {
    return await interruptible(interrupt, async (signal) => {
      const info = await readScenario(name, processes, signal, compiled.hint);
      if (info === undefined) return 130;
      const reference = referenceOf(info, options.against);
      const { callMs, failures } = await verify(info, reference, processes, signal);
      const command = commandOf(name, options);
      const plan: BenchPlan = { reference, file: name, command, callMs: (...of) => callMs.get(keyOf(...of)) };
      const comparisons = comparisonsOf(info, plan);
      const timeMs = 1000 * (options.time ?? TIME_EACH_S * Math.max(1, comparisons.length / 2));
      printError(
        `${name}: ${many(info.ways.length, "way")}, ${many(info.inputs.length, "input")}; at most ${duration(timeMs)}\n`,
      );
      const results = await runEngine(out, {
        ...{ kind: "bench", title: info.title ?? `Which way of ${name}?`, command, isNamed: true, begin, signal },
        ...{ comparisons, controls: controlOf(info, plan), failed: failedOf(failures, reference, plan) },
        // The time counts from here, so that a slow start of the ways takes none of it.
        ...{ budgetMs: performance.now() - begin + timeMs, seed: options.seed, json: options.json },
        open: (_host, way, cores) => arms.start(wayCommand({ ...settings, way }), cores),
      });
      return statusOf(results);
    });
  } finally {
    await arms.close();
    compiled.remove();
  }
}

type WayAndInput = [way: string, input: string | null];

const keyOf = (...of: WayAndInput): string => JSON.stringify(of);

/** Reads the scenario. Returns undefined if the user interrupted. A file that is not a scenario is wrong usage. */
export async function readScenario(
  name: string,
  processes: UserProcesses,
  signal: AbortSignal,
  hint: (message: string) => string,
): Promise<ScenarioInfo | undefined> {
  try {
    return (await processes.probe("read", {})) as unknown as ScenarioInfo;
  } catch (error) {
    if (signal.aborted) return undefined;
    const { message } = error as Error;
    throw new UsageError(`${name}: ${message}${hint(message)}`);
  }
}

function referenceOf({ ways }: ScenarioInfo, against: string | undefined): string {
  if (against === undefined) return ways.includes("direct") ? "direct" : (ways[0] as string);
  if (ways.includes(against)) return against;
  throw new UsageError(`--against ${against}: there is no such way${orMeant(against, ways)} (${ways.join(", ")})`);
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
        printError(`${wayWith(way, input)} is left out: ${(error as Error).message}\n`);
      }
    }
  }
  return { callMs, failures };
}

/** Returns the ways that are left out, as comparisons with a reason. */
function failedOf(failures: ReadonlyMap<string, string>, reference: string, { file, command }: BenchPlan) {
  return [...failures].map(([key, why]) => {
    const [way, input] = JSON.parse(key) as WayAndInput;
    const comparison: Comparison = {
      ...{ name: input === null ? way : `${way}/${input}`, host: "node", subject: way, reference, cores: "free" },
      ...{ work: callsOf(input), slicing: { ms: 0, runs: 1, blocks: 1, pairsMin: 1 }, command },
      ...{ thing: wayWith(way, input), peer: reference, setUp: `the way ${way} of ${file}` },
    };
    return { comparison, why };
  });
}

function commandOf(name: string, { against, timeout }: BenchOptions): string {
  const words = [name, ...(against === undefined ? [] : ["--against", against]), ...timeoutWords(timeout)];
  return ["clearway bench", ...words.map(shellWord)].join(" ");
}
