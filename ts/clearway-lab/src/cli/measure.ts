// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway measure FILE#FUNCTION`: calls a function on the main thread and in a worker, and says which of them to use.
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { taskModuleOf } from "../frame-drops/find-function.js";
import {
  type FrameDrops,
  type FunctionMeasured,
  measureFunction,
  PART_TITLES,
  type Part,
  TimeOver,
} from "../frame-drops/run-function.js";
import { adviceLine, type Converted, jankLine, lagText, ms } from "../frame-drops/verdict.js";
import type { Json } from "../protocol/message.js";
import { type DeviceTime, deviceText } from "../ratio/device-time.js";
import { folded, WIDTH_MAX } from "../report/html.js";
import { SilentError, UserProcesses } from "../runner/user-process.js";
import { print, printError, printJson } from "./print.js";
import { compileFile, DEVICE_HELP, findFile, parseDeviceOption, parseDuration, UsageError } from "./select.js";

interface MeasureOptions {
  args: string[];
  budget?: number;
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
      new Option("--timeout <duration>", "limit of the whole measurement")
        .argParser(parseDuration)
        .default(60_000, "60s"),
    )
    .option("--device <file|ratio>", DEVICE_HELP, parseDeviceOption)
    .option("--json", "print the figures as JSON")
    .action(async (target: string, options: MeasureOptions) => {
      process.exitCode = await measure(target, options);
    });
}

/** Measures a function. Returns the exit status: 1 if the function fails, is over its budget, or was stopped at the limit. */
async function measure(
  target: string,
  { args: texts, budget, timeout, device, json }: MeasureOptions,
): Promise<number> {
  const { name, shown } = splitTarget(target);
  const args = texts.map(parseArgument);
  const file = findFile(shown);
  const task = { file, text: taskModuleOf(file, name) };
  const compiled = await compileFile(shown, [{ file }, task]);
  const processes = new UserProcesses({ urls: compiled.urls, timeoutMs: timeout });
  const onInterrupt = () => {
    processes.interrupt();
    compiled.remove();
    process.exit(130);
  };
  for (const signal of SIGNALS) process.on(signal, onInterrupt);
  try {
    const call = `${name}(${texts.join(", ")})`;
    const measured = await run(processes, { name, args, ratio: device?.ratio ?? null }, shown, compiled.hint);
    if (measured === undefined) return 1;
    const { direct } = measured.there ?? measured;
    const over = budget !== undefined && direct.lagMaxMs > budget;
    if (json === true) {
      const report = {
        version: 1,
        function: name,
        file: shown,
        args,
        ...(device && { device }),
        ...measured,
        advice: adviceOf(measured),
      };
      printJson(budget === undefined ? report : { ...report, budgetMs: budget, over });
    } else
      print(
        `${textOf(call, measured, undefined, device, timeout)}${budgetText(direct, budget, convertedFrom(measured.direct, device))}\n`,
      );
    return over || measured.stopped !== undefined ? 1 : 0;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onInterrupt);
    compiled.remove();
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

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

/** Measures in a new process. Returns undefined if the function failed, after printing why. */
async function run(
  processes: UserProcesses,
  { name, args, ratio }: { name: string; args: unknown[]; ratio: number | null },
  file: string,
  hint: (message: string) => string,
): Promise<FunctionMeasured | undefined> {
  try {
    await processes.probe("find", { name });
  } catch (error) {
    const { message } = error as Error;
    throw new UsageError(`${file}: ${message}${hint(message)}`);
  }
  try {
    return await processes.probes(async (probe) => {
      const ask = async (operation: string, params: Json): Promise<unknown> => {
        try {
          const answer = await probe(operation, params);
          const late = (answer as { late?: string } | null)?.late;
          if (late !== undefined) throw new TimeOver(late);
          return answer;
        } catch (error) {
          throw error instanceof SilentError ? new TimeOver(error.message) : error;
        }
      };
      await ask("function", { name, args: args as Json[] });
      return measureFunction((part) => ask("part", { part }), ratio ?? undefined);
    });
  } catch (error) {
    printError(`error: ${file}#${name}: ${(error as Error).message}\n`);
    return undefined;
  }
}

function adviceOf(measured: FunctionMeasured): string {
  return measured.there === undefined ? adviceLine(measured) : adviceLine(measured.there, "there");
}

function convertedFrom(here: FrameDrops, device: DeviceTime | undefined): Converted | undefined {
  return device && { here, ratio: device.ratio };
}

/** With another device: what is of this machine although the other figures are not. */
const ROWS_HERE: [string, (drops: FrameDrops) => string][] = [
  ["total here", ({ totalMs }) => ms(totalMs)],
  ["longest stall here", ({ lagMaxMs }) => ms(lagMaxMs)],
];

const ROWS: [string, (drops: FrameDrops) => string][] = [
  ["total", ({ totalMs }) => ms(totalMs)],
  ["longest stall", ({ lagMaxMs }) => ms(lagMaxMs)],
  ["dropped at 60 Hz", ({ dropped60 }) => String(dropped60)],
  ["dropped at 120 Hz", ({ dropped120 }) => String(dropped120)],
  ["hitch ratio at 60 Hz", ({ hitch60 }) => `${Math.round(hitch60)} ms/s`],
  ["hitch ratio at 120 Hz", ({ hitch120 }) => `${Math.round(hitch120)} ms/s`],
];

/** The narrowest text, in characters. */
const WIDTH_MIN = 50;

export function textOf(
  call: string,
  measured: FunctionMeasured,
  columns = process.stdout.columns ?? WIDTH_MAX,
  device?: DeviceTime,
  timeoutMs = 60_000,
): string {
  const width = Math.max(WIDTH_MIN, Math.min(columns, WIDTH_MAX));
  const { calls, isResultDifferent, stopped } = measured;
  const { direct, worker } = measured.there ?? measured;
  const shown = call.length > 60 ? `${call.slice(0, 59)}…` : call;
  const drops = "why" in worker ? undefined : worker;
  const hereOfWorker = "why" in measured.worker ? undefined : measured.worker;
  const rowsOf = (rows: typeof ROWS, way: FrameDrops, other: FrameDrops | undefined) =>
    rows.map(([label, figure]) => [label, figure(way), other === undefined ? "–" : figure(other)]);
  const rows =
    device === undefined
      ? rowsOf(ROWS, direct, drops)
      : [
          ...rowsOf(ROWS_HERE, measured.direct, hereOfWorker),
          // The other device's total is not known: a call also waits.
          ...rowsOf(ROWS.slice(1), direct, drops).map(([label, ...rest]) => [`${label} there`, ...rest]),
        ];
  const widths = [0, 1, 2].map((at) =>
    Math.max(["", "directly", "in a worker"][at]!.length, ...rows.map((row) => row[at]!.length)),
  );
  const line = ([label, here, there]: string[]) =>
    `${label!.padEnd(widths[0]!)}  ${here!.padStart(widths[1]!)}  ${there!.padStart(widths[2]!)}`;
  const heading = `${shown}: the median of ${calls} ${calls === 1 ? "call" : "calls"} ${stopped === undefined ? "each way, after one to warm up" : "directly"}`;
  return [
    ...wrapped(heading, width),
    ...(stopped === undefined ? [] : wrapped(stoppedText(stopped, timeoutMs), width)),
    ...(device === undefined ? [] : wrapped(`There: ${deviceText(device)}.`, width)),
    "",
    line(["", "directly", "in a worker"]),
    ...rows.map(line),
    "",
    ...wrapped(
      `directly: ${jankLine(direct, lagText(direct.lagMaxMs, convertedFrom(measured.direct, device)))}`,
      width,
    ),
    ...wrapped(
      `in a worker: ${drops === undefined ? (worker as { why: string }).why : jankLine(drops, lagText(drops.lagMaxMs, convertedFrom(hereOfWorker!, device)))}`,
      width,
    ),
    ...(isResultDifferent
      ? wrapped(
          "the worker returned another result: the function depends on time, chance or the main thread's state",
          width,
        )
      : []),
    "",
    ...wrapped(`Verdict: ${adviceOf(measured)}`, width),
  ].join("\n");
}

const wrapped = (text: string, width: number): string[] => folded(text, width, "");

function stoppedText({ during, spentMs }: NonNullable<FunctionMeasured["stopped"]>, timeoutMs: number): string {
  const parts = (Object.entries(spentMs) as [Part, number][]).sort(([, a], [, b]) => b - a);
  const spent = parts.map(([part, timeMs]) => `${PART_TITLES[part]} ${ms(timeMs)}`).join(", ");
  return `Stopped in ${PART_TITLES[during]}: --timeout sets the limit, ${timeoutMs / 1000} s. Time: ${spent}.`;
}

function budgetText({ lagMaxMs }: FrameDrops, budget: number | undefined, converted: Converted | undefined): string {
  if (budget === undefined) return "";
  const outcome = lagMaxMs > budget ? "over" : "within";
  return `\nBudget: ${outcome} it: ${lagText(lagMaxMs, converted)} of ${ms(budget)} on the main thread.`;
}
