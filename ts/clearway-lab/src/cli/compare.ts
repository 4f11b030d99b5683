// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway compare A B`: two builds of Clearway, or two versions of a user's scenario, as the two arms of the engine.
import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Command, InvalidArgumentError } from "commander";
import { compared, wayWith } from "../bench/comparisons.js";
import { didYouMean } from "../bench/nearest-name.js";
import type { ScenarioInfo } from "../bench/steps.js";
import type { LabResults } from "../engine/answer.js";
import { buildComparisons, type Comparison } from "../engine/comparison.js";
import { Arms } from "../engine/open-arm.js";
import type { Bench } from "../engine/run.js";
import { sentenceOf } from "../report/answers/words.js";
import { duration } from "../report/number.js";
import { UserProcesses, wayCommand } from "../runner/user-process.js";
import type { Compiled } from "../user-code/compile.js";
import { many, readScenario, timeoutOption } from "./bench.js";
import { type EngineRun, interruptible, runEngine, statusOf } from "./engine-run.js";
import { openOut } from "./out-folder.js";
import { printError } from "./print.js";
import { RUN_FILES } from "./run-files.js";
import { compileFile, findFile, parseSeconds, parseSeed, shellWord, timeoutWords, UsageError } from "./select.js";

interface CompareOptions {
  time?: number;
  timeout: number;
  max?: number;
  out: string;
  seed?: number;
  json?: boolean;
}

/** What is measured: comparisons whose arms are named SIDE:ARM, where A is the side of the peer. */
interface Sides {
  /**
   * Returns the comparisons, and those that cannot be measured. Rejects with a UsageError if a name is unknown, or nothing can be compared.
   * What it returns after an interruption has no meaning.
   */
  chosen(names: readonly string[], signal: AbortSignal): Promise<Pick<EngineRun, "comparisons" | "failed">>;
  open: Bench["open"];
  interrupt(): void;
  close(): Promise<void>;
}

/** Time of a run for each comparison, in seconds. */
const TIME_EACH_S = 30;

export function addCompare(program: Command): void {
  program
    .command("compare")
    .description(
      "compare two builds of Clearway, or two versions of a scenario of clearway bench; with --max, fail if B is slower",
    )
    .argument(
      "<a>",
      "before the change: a clone with a build, a project with clearway-lab in node_modules, or a scenario file",
    )
    .argument("<b>", "after the change, of the same kind")
    .argument("[name...]", "questions of the lab (call, codec), or ways of the scenario; default: all")
    .option(
      "--max <ratio>",
      "exit with status 1 if B takes longer than A by more than this ratio, such as 1.10",
      parseMax,
    )
    .option("--time <seconds>", "time of the run; default: 30 for each comparison", parseSeconds)
    .addOption(timeoutOption())
    .option("--out <dir>", "output folder", "compare-out")
    .option("--seed <number>", "repeat the order of an earlier run", parseSeed)
    .option("--json", "print results.json instead of the summary")
    .action(async (a: string, b: string, names: string[], options: CompareOptions) => {
      process.exitCode = await compare(a, b, names, options);
    });
}

async function compare(a: string, b: string, names: readonly string[], options: CompareOptions): Promise<number> {
  const begin = performance.now();
  const [isA, isB] = [a, b].map((each) => statSync(each, { throwIfNoEntry: false })?.isDirectory() === true);
  if (isA !== isB) throw new UsageError(`${a} and ${b} must be two folders, or two scenario files`);
  const out = openOut(options.out, RUN_FILES, { parents: true });
  let sides: Sides | undefined;
  let interrupt = (): void => {};
  try {
    return await interruptible(
      () => interrupt(),
      async (signal) => {
        const opening = isA ? buildSides(a, b, options.timeout) : scenarioSides(a, b, options.timeout);
        ({ interrupt } = opening);
        sides = opening;
        const { comparisons, failed = [] } = await opening.chosen(names, signal);
        if (signal.aborted) return 130;
        const timeMs = 1000 * (options.time ?? TIME_EACH_S * comparisons.length);
        printError(`${many(comparisons.length, "comparison")} of ${b} with ${a}, at most ${duration(timeMs)}\n`);
        const { seed, json } = options;
        const results = await runEngine(out.path, {
          ...{
            kind: "compare",
            title: `${b} compared with ${a}`,
            command: commandOf(a, b, names, options.timeout),
            isNamed: true,
          },
          ...{ comparisons, failed, controls: [], seed, json, signal, begin, open: opening.open },
          budgetMs: performance.now() - begin + timeMs,
        });
        return statusOf(results) || gate(results, options.max);
      },
    );
  } finally {
    await sides?.close();
    out.close();
  }
}

/** Prints the answers that are beyond the limit. Returns 1 if there are any: the whole interval is above it. */
export function gate({ answers }: Pick<LabResults, "answers">, max: number | undefined): number {
  if (max === undefined) return 0;
  const beyond = answers.filter(({ interval }) => interval !== undefined && interval.low > max);
  for (const answer of beyond) printError(`over --max ${max}: ${sentenceOf(answer)}\n`);
  return beyond.length > 0 ? 1 : 0;
}

function buildSides(a: string, b: string, timeoutMs: number): Sides {
  const arms = { A: new Arms({}, buildOf(a)), B: new Arms({}, buildOf(b)) };
  return {
    chosen: async (names) => {
      const all = buildComparisons(commandOf(a, b, [], timeoutMs));
      const known = all.map(({ name }) => name);
      const unknown = names.find((name) => !known.some((own) => isNamed(own, name)));
      if (unknown !== undefined)
        throw new UsageError(
          `unknown question "${unknown}".${didYouMean(unknown, known)} Questions: ${known.join(", ")}`,
        );
      const isChosen = (own: string) => names.length === 0 || names.some((name) => isNamed(own, name));
      return { comparisons: all.filter(({ name: own }) => isChosen(own)) };
    },
    open: (host, arm, cores) => arms[arm[0] as "A" | "B"].open(host, arm.slice(2), cores),
    interrupt: () => {
      arms.A.interrupt();
      arms.B.interrupt();
    },
    close: async () => void (await Promise.all([arms.A.close(), arms.B.close()])),
  };
}

const isNamed = (own: string, name: string): boolean => own === name || own.startsWith(`${name}-`);

/** Returns the URL of a built arm, relative to which the others are found. */
function buildOf(folder: string): URL {
  const places = ["dist", "ts/clearway-lab/dist", "node_modules/clearway-lab/dist"];
  const found = places.map((place) => path.resolve(folder, place, "arm-node.js")).find((file) => existsSync(file));
  if (found === undefined)
    throw new UsageError(
      `${folder} has no build of the lab: run make build in a clone, or npm install clearway-lab in a project`,
    );
  return pathToFileURL(found);
}

function scenarioSides(a: string, b: string, timeoutMs: number): Sides {
  const files = [findFile(a), findFile(b)] as const;
  const compiled: Compiled[] = [];
  const processes: UserProcesses[] = [];
  const arms = new Arms();
  return {
    chosen: async (names, signal) => {
      const infos: ScenarioInfo[] = [];
      for (const [at, file] of files.entries()) {
        const shown = [a, b][at]!;
        const each = await compileFile(shown, [{ file }]);
        compiled.push(each);
        // The results of B are compared with those of A.
        processes.push(new UserProcesses({ urls: [...each.urls, ...compiled[0]!.urls], timeoutMs }));
        const info = await readScenario(shown, processes[at]!, signal, each.hint);
        if (info === undefined) return { comparisons: [] };
        infos.push(info);
      }
      const [one, other] = infos as [ScenarioInfo, ScenarioInfo];
      const ways = one.ways.filter((way) => other.ways.includes(way));
      const inputs = one.inputs.filter((input) => other.inputs.includes(input));
      const unknown = names.find((name) => !ways.includes(name));
      if (unknown !== undefined || ways.length * inputs.length === 0)
        throw new UsageError(
          unknown === undefined
            ? `${a} and ${b} have no way with the same input in common`
            : `${a} and ${b} do not both have the way ${unknown} (${ways.join(", ")})`,
        );
      const comparisons: Comparison[] = [];
      const failed: { comparison: Comparison; why: string }[] = [];
      for (const way of names.length === 0 ? ways : names)
        for (const input of inputs) {
          const plan = { reference: way, file: `${a} and ${b}`, command: commandOf(a, b, [way], timeoutMs) };
          const both = (callMs: number): Comparison[] =>
            compared(way, input, callMs, plan).map((each) => ({
              ...each,
              ...{ subject: `B:${way}`, reference: `A:${way}`, peer: "before" },
            }));
          let shown = a;
          const verify = (at: 0 | 1, before: { before?: string }) =>
            processes[at]!.probe("verify", { way, input, ...before }) as unknown as Promise<{ callMs: number }>;
          try {
            const { callMs } = await verify(0, {});
            shown = b;
            comparisons.push(...both(Math.max(callMs, (await verify(1, { before: a })).callMs)));
          } catch (error) {
            if (signal.aborted) return { comparisons };
            const why = `in ${shown}, ${(error as Error).message}`;
            printError(`${wayWith(way, input)} is left out: ${why}\n`);
            failed.push({ comparison: both(Number.POSITIVE_INFINITY)[0]!, why });
          }
        }
      return { comparisons, failed };
    },
    open: (_host, arm, cores) => {
      const { urls } = compiled[arm.startsWith("A:") ? 0 : 1]!;
      return arms.start(wayCommand({ urls, timeoutMs, way: arm.slice(2) }), cores);
    },
    interrupt: () => {
      for (const each of processes) each.interrupt();
      arms.interrupt();
    },
    close: async () => {
      await arms.close();
      for (const each of compiled) each.remove();
    },
  };
}

function commandOf(a: string, b: string, names: readonly string[], timeoutMs: number): string {
  return ["clearway compare", ...[a, b, ...names, ...timeoutWords(timeoutMs)].map(shellWord)].join(" ");
}

function parseMax(text: string): number {
  const max = Number(text);
  if (!Number.isFinite(max) || max < 1)
    throw new InvalidArgumentError(`"${text}" is not a ratio of at least 1, such as 1.10`);
  return max;
}
