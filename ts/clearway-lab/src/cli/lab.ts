// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab [QUESTION ...]`: measures the comparisons until they are decided, writes and prints the answers.
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ANSWERS_VERSION, answerOf, type LabResults } from "../engine/answer.js";
import { COMPARISONS, CONTROLS, type Comparison, comparisonsNamed } from "../engine/comparison.js";
import { readLoad } from "../engine/load.js";
import { type ArmHost, Arms } from "../engine/open-arm.js";
import { measureAll } from "../engine/run.js";
import { allowedCores } from "../machine/cores.js";
import { buildFacts, cpuTimes, machineFacts, stealPercent } from "../machine/facts.js";
import { compilePeers, PEERS_VARIABLE } from "../native/compile.js";
import { koffiProblem } from "../native/peers.js";
import { pluginProblem } from "../native/plugin.js";
import { answersText } from "../report/answers/text.js";
import { duration } from "../report/duration.js";
import { chromiumMissing, findChromium } from "../runner/chromium-find.js";
import { findJvmRunner } from "../runner/jvm-find.js";
import { randomFrom, shuffled } from "../statistics/random.js";
import { FailedError, UsageError } from "./errors.js";
import { printJson } from "./json.js";
import { didYouMean } from "./nearest.js";
import { openOut } from "./out-folder.js";
import { print, printError } from "./print.js";
import { openProgress } from "./progress.js";
import { RUN_FILES, writeAnswers } from "./run-files.js";
import { columnsOf, fitted } from "./width.js";

export interface LabOptions {
  host?: readonly string[];
  out: string;
  /** The time of the run, in seconds. */
  time?: number;
  seed?: number;
  json?: boolean;
}

/** Time of a run of all comparisons, in seconds: under five minutes with its end. */
const TIME_S = 280;
/** Time of a run of named comparisons, in seconds for each. */
const TIME_NAMED_S = 30;

/** Runs the lab and returns the exit status. */
export async function lab(names: readonly string[], options: LabOptions): Promise<number> {
  const chosen = choose(names, options.host);
  const out = openOut(options.out, RUN_FILES);
  try {
    return await measure(chosen, names.length > 0, out.path, options);
  } finally {
    out.close();
  }
}

/** Prints the comparisons and what this machine lacks for them. Returns the exit status. */
export async function listComparisons(names: readonly string[], host?: readonly string[]): Promise<number> {
  const chosen = choose(names, host);
  const missing = await missingHere(chosen);
  for (const { name, thing, peer } of chosen) {
    const why = missing.find(({ names }) => names.includes(name))?.why;
    print(`${name.padEnd(24)}${thing}, against ${peer}${why === undefined ? "" : ` (cannot run: ${why})`}\n`);
  }
  return 0;
}

function choose(names: readonly string[], hosts: readonly string[] | undefined): Comparison[] {
  const named = names.map((name) => {
    const found = comparisonsNamed(name);
    if (found.length > 0) return found;
    const known = COMPARISONS.map((each) => each.name);
    throw new UsageError(
      `unknown question "${name}".${didYouMean(name, known)} Questions: ${known.join(", ")}. ` +
        "A scenario is measured with --profile, e.g. clearway lab students --profile published",
    );
  });
  const asked = new Set(names.length === 0 ? COMPARISONS : named.flat());
  return [...COMPARISONS, ...CONTROLS].filter(
    (each) => asked.has(each) && (hosts === undefined || hosts.includes(each.host)),
  );
}

async function measure(
  chosen: readonly Comparison[],
  isNamed: boolean,
  out: string,
  options: LabOptions,
): Promise<number> {
  const begin = performance.now();
  const startedAt = new Date().toISOString();
  const { time = isNamed ? TIME_NAMED_S * chosen.length : TIME_S, seed = Math.floor(Math.random() * 2 ** 32) } =
    options;
  const missing = await missingHere(chosen);
  const can = chosen.filter(({ name }) => !missing.some(({ names }) => names.includes(name)));
  if (can.length === 0)
    throw new FailedError(
      `nothing can be measured here: ${missing.map(({ why }) => why).join("; ") || "no question is for this host"}`,
      "clearway hosts shows what is installed",
    );
  const peers = can.some(({ name }) => name.startsWith("memset")) ? compilePeers() : undefined;
  const arms = new Arms(peers && { [PEERS_VARIABLE]: JSON.stringify(peers.peers) });
  const interruption = new AbortController();
  const onInterrupt = (): void => {
    if (interruption.signal.aborted) process.exit(130);
    printError("\ninterrupted: keeping the answers so far (press Ctrl-C again to exit at once)\n");
    interruption.abort();
    arms.interrupt();
  };
  for (const signal of SIGNALS) process.on(signal, onInterrupt);
  const progress = openProgress(process.stderr);
  try {
    const machine = machineFacts();
    const times = cpuTimes();
    const random = randomFrom(seed);
    const cores = allowedCores().slice(0, 2);
    const hosts = new Set(can.map(({ host }) => host));
    const controls = CONTROLS.filter(({ host }) => !isNamed && hosts.has(host));
    printError(`${can.length === 1 ? "1 question" : `${can.length} questions`}, at most ${duration(time * 1000)}\n`);
    // The order of the sessions is drawn, so that a slow minute meets other questions in the next run.
    const measured = await measureAll(
      shuffled([...can, ...controls], random),
      {
        open: (host, arm, cores) => arms.open(host, arm, cores),
        ...{ nowMs: () => performance.now(), sleep, random, load: () => readLoad(cores) },
      },
      {
        ...{ budgetMs: time * 1000 - (performance.now() - begin), isNamed, signal: interruption.signal },
        onPair: (name, decided, leftMs) =>
          progress.step({ done: decided, planned: can.length + controls.length, leftMs, name }),
      },
    );
    progress.stop();
    const answers = (asked: readonly Comparison[]) =>
      asked.map((each) => answerOf(measured.find(({ comparison }) => comparison === each)!));
    const results: LabResults = {
      version: ANSWERS_VERSION,
      run: {
        ...{ startedAt, durationMs: Math.round(performance.now() - begin), seed },
        ...{ interrupted: interruption.signal.aborted, command: commandOf(options, chosen, isNamed) },
      },
      ...{ answers: answers(can), controls: answers(controls), missing },
      machine: { ...machine, stealPercent: stealPercent(times, cpuTimes()) },
      build: buildFacts(null),
    };
    await writeAnswers(out, results);
    if (options.json === true) printJson(results);
    else
      print(
        answersText(results)
          .flatMap((line) => fitted(line, columnsOf(), 2))
          .join("\n") + "\n",
      );
    const shown = path.relative(process.cwd(), out) || ".";
    printError(
      `${path.join(shown, "report.html")} and ${path.join(shown, "results.json")} written after ${duration(results.run.durationMs)}.\n`,
    );
    if (results.run.interrupted) return 130;
    return results.answers.some(({ failed }) => failed !== undefined) ? 1 : 0;
  } finally {
    progress.stop();
    for (const signal of SIGNALS) process.off(signal, onInterrupt);
    await arms.close();
    peers?.remove();
  }
}

/** The signals that end a run early: Ctrl-C, `kill`, and a closed terminal. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function commandOf({ time }: LabOptions, chosen: readonly Comparison[], isNamed: boolean): string {
  const names = isNamed ? ` ${chosen.map(({ name }) => name).join(" ")}` : "";
  return `clearway lab${names}${time === undefined ? "" : ` --time ${time}`}`;
}

/** Returns what this machine lacks, one entry for each reason. */
async function missingHere(chosen: readonly Comparison[]): Promise<LabResults["missing"]> {
  const pinning = new Arms().pinning;
  const jvm = findJvmRunner();
  const hosts: Record<ArmHost, string | undefined> = {
    node: undefined,
    chromium: findChromium() === undefined ? chromiumMissing() : undefined,
    jvm: typeof jvm === "string" ? jvm : undefined,
  };
  const isMemset = ({ name }: Comparison): boolean => name.startsWith("memset");
  const memset = chosen.some(isMemset) ? ((await pluginProblem()) ?? (await koffiProblem())) : undefined;
  const reasons = new Map<string, string[]>();
  for (const each of chosen) {
    const why =
      hosts[each.host] ?? (isMemset(each) ? memset : undefined) ?? (each.cores === "one" ? pinning : undefined);
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), each.name]);
  }
  return [...reasons].map(([why, names]) => ({ why, names }));
}
