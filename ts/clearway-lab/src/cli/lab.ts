// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab [QUESTION ...]`: measures the comparisons until they are decided, writes and prints the answers.
import type { LabResults } from "../engine/answer.js";
import { COMPARISONS, CONTROLS, type Comparison, comparisonsNamed } from "../engine/comparison.js";
import { type ArmHost, Arms } from "../engine/open-arm.js";
import { compilePeers, PEERS_VARIABLE } from "../native/compile.js";
import { koffiProblem } from "../native/peers.js";
import { pluginProblem } from "../native/plugin.js";
import { duration } from "../report/duration.js";
import { chromiumMissing, findChromium } from "../runner/chromium-find.js";
import { findJvmRunner } from "../runner/jvm-find.js";
import { interruptible, runEngine, statusOf } from "./engine-run.js";
import { FailedError, UsageError } from "./errors.js";
import { didYouMean } from "./nearest.js";
import { openOut } from "./out-folder.js";
import { print, printError } from "./print.js";
import { RUN_FILES } from "./run-files.js";

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
  const { time = isNamed ? TIME_NAMED_S * chosen.length : TIME_S, seed, json } = options;
  const missing = await missingHere(chosen);
  const can = chosen.filter(({ name }) => !missing.some(({ names }) => names.includes(name)));
  if (can.length === 0)
    throw new FailedError(
      `nothing can be measured here: ${missing.map(({ why }) => why).join("; ") || "no question is for this host"}`,
      "clearway hosts shows what is installed",
    );
  const peers = can.some(({ name }) => name.startsWith("memset")) ? compilePeers() : undefined;
  const arms = new Arms(peers && { [PEERS_VARIABLE]: JSON.stringify(peers.peers) });
  try {
    return await interruptible(
      () => arms.interrupt(),
      async (signal) => {
        const hosts = new Set(can.map(({ host }) => host));
        const questions = can.length === 1 ? "1 question" : `${can.length} questions`;
        printError(`${questions}, at most ${duration(time * 1000)}\n`);
        const results = await runEngine(out, {
          ...{ kind: "lab", comparisons: can, missing, isNamed, seed, json, signal, begin },
          controls: CONTROLS.filter(({ host }) => !isNamed && hosts.has(host)),
          ...{ budgetMs: time * 1000, command: commandOf(options, chosen, isNamed) },
          open: (host, arm, cores) => arms.open(host, arm, cores),
        });
        return statusOf(results);
      },
    );
  } finally {
    await arms.close();
    peers?.remove();
  }
}

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
