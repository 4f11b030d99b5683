// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway measure FILE#FUNCTION`: calls a function on the main thread and in a worker, as two arms of the engine, and says which to use.
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { compared } from "../bench/comparisons.js";
import type { Crossing } from "../bench/function.js";
import { taskModuleOf } from "../bench/steps.js";
import type { LabResults } from "../engine/answer.js";
import type { Comparison } from "../engine/comparison.js";
import { Arms } from "../engine/open-arm.js";
import { type DeviceTime, deviceText } from "../ratio/device-time.js";
import { adviceForFunction, type FunctionFacts, stallsOf } from "../report/answers/text.js";
import { duration } from "../report/number.js";
import { UserProcesses, wayCommand } from "../runner/user-process.js";
import { readScenario, timeoutOption } from "./bench.js";
import { interruptible, measureRun, printAnswers, statusOf } from "./engine-run.js";
import { printError, printJson } from "./print.js";
import {
  compileFile,
  DEVICE_HELP,
  findFile,
  parseDeviceOption,
  parseDuration,
  parseSeconds,
  shellWord,
  timeoutWords,
  UsageError,
} from "./select.js";

interface MeasureOptions {
  args: string[];
  budget?: number;
  time: number;
  timeout: number;
  device?: DeviceTime;
  json?: boolean;
}

export function addMeasure(program: Command): void {
  program
    .command("measure")
    .description("call a function on the main thread and in a worker: time, longest stall, dropped frames")
    .argument("<FILE#FUNCTION>", "an export of a TypeScript or JavaScript file; without #FUNCTION, the default export")
    .addOption(
      new Option("--args <json...>", "the arguments, as JSON; @FILE reads one from a file").default([], "none"),
    )
    .option(
      "--budget <duration>",
      "exit with status 1 if the function blocks the main thread for longer: 16ms",
      parseDuration,
    )
    .addOption(
      new Option("--time <seconds>", "time of the run; it ends earlier if all is decided")
        .argParser(parseSeconds)
        .default(30),
    )
    .addOption(timeoutOption())
    .option("--device <file|ratio>", DEVICE_HELP, parseDeviceOption)
    .option("--json", "print the answers as JSON")
    .action(async (target: string, options: MeasureOptions) => {
      process.exitCode = await measure(target, options);
    });
}

/** Measures a function. Returns the exit status: 1 if the function fails, or is over its budget. */
async function measure(target: string, options: MeasureOptions): Promise<number> {
  const begin = performance.now();
  const { name, shown } = splitTarget(target);
  const args = options.args.map(parseArgument);
  const file = findFile(shown);
  const compiled = await compileFile(shown, [{ file }, { file, text: taskModuleOf(file, name, args) }]);
  const settings = { urls: compiled.urls, timeoutMs: options.timeout, function: name };
  const processes = new UserProcesses(settings);
  const arms = new Arms();
  const interrupt = () => {
    processes.interrupt();
    arms.interrupt();
  };
  try {
    return await interruptible(interrupt, async (signal) => {
      if ((await readScenario(shown, processes, signal, compiled.hint)) === undefined) return 130;
      const ways = await callOnce(processes, signal);
      if (signal.aborted) return 130;
      if ("failed" in ways) {
        printError(`error: ${shown}#${name}: ${ways.failed}\n`);
        return 1;
      }
      const command = commandOf(target, options);
      const title = `${callText(name, options.args)}: directly, or in a worker?`;
      printError(`${shown}#${name}: at most ${duration(options.time * 1000)}\n`);
      const results = await measureRun({
        ...{ kind: "bench", title, command, isNamed: true, begin, signal, seed: undefined, json: options.json },
        ...comparisonsOf(ways, shown, command),
        // The time counts from here, so that a slow first call takes none of it.
        budgetMs: performance.now() - begin + options.time * 1000,
        open: (_host, way, cores) => arms.start(wayCommand({ ...settings, way }), cores),
      });
      return tell(results, ways, options, { function: name, file: shown, args });
    });
  } finally {
    await arms.close();
    compiled.remove();
  }
}

interface Ways extends FunctionFacts {
  /** Time of one call of the slower way, in milliseconds. */
  callMs: number;
}

/** Calls the function each way, and compares the results. Returns why the direct call failed. */
async function callOnce(processes: UserProcesses, signal: AbortSignal): Promise<Ways | { failed: string }> {
  const ask = async <T>(name: string, params: Record<string, string>): Promise<T | { failed: string }> => {
    try {
      return (await processes.probe(name, params)) as unknown as T;
    } catch (error) {
      return { failed: (error as Error).message };
    }
  };
  const direct = await ask<{ callMs: number }>("verify", { way: "direct" });
  if ("failed" in direct || signal.aborted) return direct;
  const worker = await ask<{ callMs: number }>("verify", { way: "worker" });
  if ("failed" in worker) return { callMs: direct.callMs, notInWorker: worker.failed };
  const crossing = await ask<Crossing>("crossing", {});
  const callMs = Math.max(direct.callMs, worker.callMs);
  return "failed" in crossing ? { callMs } : { callMs, crossing };
}

function comparisonsOf({ callMs, notInWorker }: Ways, file: string, command: string) {
  const of = (way: string, named: Partial<Comparison>): Comparison[] =>
    compared(way, null, callMs, { reference: "direct", file, command }).map((each) => ({ ...each, ...named }));
  // A function that cannot run in a worker is compared with itself, which measures its calls and its stalls.
  return notInWorker === undefined
    ? {
        comparisons: of("worker", { thing: "A call in a worker", peer: "a direct call", way: "a worker" }),
        controls: [],
      }
    : { comparisons: [], controls: of("direct", { thing: "The same twice", peer: "itself", way: "A direct call" }) };
}

/** Prints what was measured. Returns the exit status. */
function tell(
  results: LabResults,
  facts: FunctionFacts,
  { budget, device, json }: MeasureOptions,
  target: { function: string; file: string; args: unknown[] },
): number {
  const stalls = stallsOf(results, device?.ratio);
  const over = budget !== undefined && !((stalls.direct?.ms ?? Number.POSITIVE_INFINITY) <= budget);
  const { crossing, notInWorker } = facts;
  if (json === true)
    printJson({
      ...{ ...results, ...target, ...(device && { device }), stalls },
      ...{ ...(crossing && { crossing }), ...(notInWorker !== undefined && { notInWorker }) },
      ...(budget !== undefined && { budgetMs: budget, over }),
    });
  else
    printAnswers(
      results,
      adviceForFunction(results, facts, { budget, ratio: device?.ratio, there: device && deviceText(device) }),
    );
  return statusOf(results) || Number(over);
}

function splitTarget(target: string): { shown: string; name: string } {
  const at = target.lastIndexOf("#");
  if (at < 0) return { shown: target, name: "default" };
  const [shown, name] = [target.slice(0, at), target.slice(at + 1)];
  if (shown === "" || name === "") throw new UsageError(`"${target}" is not FILE#FUNCTION, such as sum.ts#total`);
  return { shown, name };
}

function parseArgument(text: string, at: number): unknown {
  const source = text.startsWith("@") ? readArgument(text.slice(1)) : text;
  try {
    return JSON.parse(source) as unknown;
  } catch (error) {
    const where = text.startsWith("@") ? `the file ${text.slice(1)}` : text;
    const hint = text.startsWith("@") ? "" : `; a text needs quotes that the shell keeps: '${JSON.stringify(text)}'`;
    throw new UsageError(`--args: argument ${at + 1} is not JSON: ${where} (${(error as Error).message})${hint}`);
  }
}

function readArgument(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`--args @${file}: the file cannot be read (${(error as Error).message})`);
  }
}

function callText(name: string, args: readonly string[]): string {
  const call = `${name}(${args.join(", ")})`;
  return call.length > 60 ? `${call.slice(0, 59)}…` : call;
}

function commandOf(target: string, { args, timeout }: MeasureOptions): string {
  const words = [target, ...(args.length === 0 ? [] : ["--args", ...args]), ...timeoutWords(timeout)];
  return ["clearway measure", ...words.map(shellWord)].join(" ");
}
