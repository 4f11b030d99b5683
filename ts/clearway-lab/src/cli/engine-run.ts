// SPDX-License-Identifier: MIT OR Apache-2.0
// One run of the engine for a command: measures, keeps what an interrupted run has, writes results.json and report.html, prints.
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onInterruption } from "../../../../scripts/interruption.mjs";
import { ANSWERS_VERSION, answerOf, type LabResults, type RunFacts } from "../engine/answer.js";
import type { Comparison } from "../engine/comparison.js";
import { type Bench, measureAll } from "../engine/run.js";
import { allowedCores, readLoad } from "../machine/cores.js";
import { type BrowserVersions, buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { answersText } from "../report/answers/text.js";
import { duration } from "../report/number.js";
import { randomFrom, shuffled } from "../statistics/random.js";
import { keepRun } from "./out-folder.js";
import { columnsOf, fitted, openProgress, print, printError, printJson } from "./print.js";
import { writeAnswers } from "./run-files.js";

/** Calls `use` with a signal that the first interruption aborts. `interrupt` ends what runs; a second interruption ends the process. */
export async function interruptible<T>(interrupt: () => void, use: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new AbortController();
  const stop = onInterruption((isFirst) => {
    interrupt();
    if (!isFirst) process.exit(130);
    printError("\ninterrupted: keeping the answers so far (press Ctrl-C again to exit at once)\n");
    interruption.abort();
  });
  try {
    return await use(interruption.signal);
  } finally {
    stop();
  }
}

export interface EngineRun extends Pick<RunFacts, "kind" | "title" | "command"> {
  comparisons: readonly Comparison[];
  controls: readonly Comparison[];
  missing?: LabResults["missing"];
  /** Comparisons that cannot be measured, with the reason. */
  failed?: readonly { comparison: Comparison; why: string }[];
  open: Bench["open"];
  /** The limits of comparisons by name. */
  limits?: Readonly<Record<string, number>>;
  /** Returns the versions of the browsers in which arms ran. */
  browsers?: () => Promise<BrowserVersions>;
  /** The time of the run in milliseconds, from `begin`, which is a reading of `performance.now()`. */
  budgetMs: number;
  begin: number;
  /** Whether the user chose the comparisons: each may then use the whole time. */
  isNamed: boolean;
  seed: number | undefined;
  json: boolean | undefined;
  signal: AbortSignal;
}

/** Measures. Returns the results of a run, which is interrupted if the signal is aborted. */
export async function measureRun(run: EngineRun): Promise<LabResults> {
  const { comparisons, controls, isNamed, begin, signal, budgetMs, failed = [], kind, title, command } = run;
  const seed = run.seed ?? Math.floor(Math.random() * 2 ** 32);
  const startedAt = new Date(Date.now() - (performance.now() - begin)).toISOString();
  const machine = machineFacts();
  const times = cpuTimes();
  const random = randomFrom(seed);
  const cores = allowedCores().slice(0, 2);
  const all = [...comparisons, ...controls];
  const progress = openProgress(process.stderr);
  try {
    // The order of the sessions is drawn, so that a slow minute meets other questions in the next run.
    const measured = await measureAll(
      shuffled(all, random),
      { open: run.open, nowMs: () => performance.now(), sleep, random, load: () => readLoad(cores) },
      {
        ...{ budgetMs: budgetMs - (performance.now() - begin), isNamed, signal },
        ...(run.limits && { limits: run.limits }),
        onPair: (name, decided, leftMs) => progress.step({ done: decided, planned: all.length, leftMs, name }),
      },
    );
    const answers = (asked: readonly Comparison[]) =>
      asked.map((each) => answerOf(measured.find(({ comparison }) => comparison === each)!));
    return {
      version: ANSWERS_VERSION,
      run: {
        ...{ kind, ...(title !== undefined && { title }), startedAt },
        ...{ durationMs: Math.round(performance.now() - begin), seed, interrupted: signal.aborted, command },
      },
      answers: [...answers(comparisons), ...failed.map(({ comparison, why }) => failedAnswer(comparison, why))],
      ...{ controls: answers(controls), missing: run.missing ?? [] },
      machine: { ...machine, stealPercent: stealPercent(times, cpuTimes()) },
      build: buildFacts(await run.browsers?.()),
    };
  } finally {
    progress.stop();
  }
}

/** Measures, writes into `out`, and prints. Returns the results. The exit status of a run is `statusOf` them. */
export async function runEngine(out: string, run: EngineRun): Promise<LabResults> {
  const results = await measureRun(run);
  await keepRun(out, (folder) => writeAnswers(folder, results));
  if (run.json === true) printJson(results);
  else printAnswers(results);
  const shown = path.relative(process.cwd(), out) || ".";
  printError(
    `${path.join(shown, "report.html")} and ${path.join(shown, "results.json")} written after ${duration(results.run.durationMs)}.\n`,
  );
  return results;
}

/** Prints the answers in the width of the terminal. `opening` replaces the lines with which they open. */
export function printAnswers(results: LabResults, opening?: readonly string[]): void {
  const lines = answersText(results, opening).flatMap((line) => fitted(line, columnsOf(), 2));
  print(lines.join("\n") + "\n");
}

function failedAnswer(comparison: Comparison, why: string): LabResults["answers"][number] {
  return answerOf({ comparison, pairsMin: 1, pairsMax: 1, logs: [], pairs: [], pairMs: 0, failed: why });
}

/** Returns 130 for an interrupted run, 1 if a comparison or a control failed, else 0. */
export function statusOf({ run, answers, controls }: LabResults): number {
  if (run.interrupted) return 130;
  return [...answers, ...controls].some(({ failed }) => failed !== undefined) ? 1 : 0;
}
