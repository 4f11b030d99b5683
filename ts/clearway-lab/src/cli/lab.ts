// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway lab [QUESTION ...]`: measures the comparisons until they are decided, writes and prints the answers.

import { didYouMean } from "../bench/nearest-name.js";
import { browserProblem } from "../browser/open.js";
import type { LabResults } from "../engine/answer.js";
import { COMPARISONS, CONTROLS, type Comparison, SLOWED } from "../engine/comparison.js";
import { CONTROLS_IN_OTHER_BROWSERS, FURTHER, IN_OTHER_BROWSERS, LIMITS } from "../engine/limits.js";
import { type ArmHost, Arms } from "../engine/open-arm.js";
import { packagesMissing } from "../machine/optional-packages.js";
import { compilePeers, koffiProblem, PEERS_VARIABLE } from "../native/peers.js";
import { pluginProblem } from "../native/plugin.js";
import { remoteProblem } from "../remote/open.js";
import { limitText } from "../report/answers/words.js";
import { duration } from "../report/number.js";
import { findJvmRunner } from "../runner/runners.js";
import { interruptible, runEngine, statusOf } from "./engine-run.js";
import { openOut } from "./out-folder.js";
import { columned, columnsOf, FailedError, print, printError, UsageError } from "./print.js";
import { RUN_FILES } from "./run-files.js";

export interface LabOptions {
  host?: readonly string[];
  out: string;
  /** The time of the run, in seconds. */
  time?: number;
  /** Whether to measure everything that has a limit, and until it is on one side of it. */
  limits?: boolean;
  seed?: number;
  json?: boolean;
}

/** Time of a run of all comparisons, in seconds: under five minutes with its end. */
const TIME_S = 280;
/** Time of a run of all comparisons with limits, in seconds. */
const TIME_LIMITS_S = 900;
/** Time of a run of named comparisons, in seconds for each. */
const TIME_NAMED_S = 30;

/** Runs the lab and returns the exit status. */
export async function lab(names: readonly string[], options: LabOptions): Promise<number> {
  const chosen = choose(names, options);
  const out = openOut(options.out, RUN_FILES);
  try {
    return await measure(chosen, names.length > 0, out.path, options);
  } finally {
    out.close();
  }
}

/** Prints the comparisons and what this machine lacks for them. Returns the exit status. */
export async function listComparisons(names: readonly string[], options: Pick<LabOptions, "host" | "limits">) {
  const chosen = choose(names, options);
  const missing = await missingHere(chosen);
  const width = Math.max(...chosen.map(({ name }) => name.length));
  for (const { name, thing, peer, verb } of chosen) {
    const why = missing.find(({ names }) => names.includes(name))?.why;
    const limit = options.limits === true ? LIMITS[name] : undefined;
    const further = `${limit === undefined ? "" : `; ${limitText(limit, verb)}`}${why === undefined ? "" : ` (cannot run: ${why})`}`;
    print(columned(name, `${thing}, against ${peer}${further}`, width + 2, columnsOf()).join("\n") + "\n");
  }
  return 0;
}

function choose(names: readonly string[], { host: hosts, limits }: Pick<LabOptions, "host" | "limits">): Comparison[] {
  const others = IN_OTHER_BROWSERS.filter(({ host }) => hosts?.includes(host));
  const all = [...COMPARISONS, ...(limits === true ? FURTHER : []), ...others];
  const every = [...COMPARISONS, ...FURTHER, ...IN_OTHER_BROWSERS, ...CONTROLS, ...CONTROLS_IN_OTHER_BROWSERS];
  every.push(...SLOWED);
  /** What a run measures only if its whole name is given. */
  const hidden = new Set([...FURTHER, ...IN_OTHER_BROWSERS].filter((each) => !all.includes(each)));
  const named = names.map((name) => {
    const found = every.filter((each) => each.name === name || (each.name.startsWith(`${name}-`) && !hidden.has(each)));
    if (found.length > 0) return found;
    const known = all.map((each) => each.name);
    throw new UsageError(`unknown question "${name}".${didYouMean(name, known)} Questions: ${known.join(", ")}`);
  });
  const asked = new Set(names.length === 0 ? all : named.flat());
  const chosen = every.filter((each) => asked.has(each) && (hosts === undefined || hosts.includes(each.host)));
  if (chosen.length === 0)
    throw new UsageError(
      `no question${names.length === 0 ? "" : ` of ${names.join(", ")}`} is for ${hosts?.join(" or ")}. \`clearway lab list --host NAME\` lists those of a host; the hosts flutter and swift have published experiments only (--profile published)`,
    );
  return chosen;
}

async function measure(
  chosen: readonly Comparison[],
  isNamed: boolean,
  out: string,
  options: LabOptions,
): Promise<number> {
  const begin = performance.now();
  const { limits = false, seed, json } = options;
  const { time = isNamed ? TIME_NAMED_S * chosen.length : limits ? TIME_LIMITS_S : TIME_S } = options;
  const missing = await missingHere(chosen);
  const can = chosen.filter(({ name }) => !missing.some(({ names }) => names.includes(name)));
  if (can.length === 0)
    throw new FailedError(
      `nothing can be measured here: ${missing.map(({ why }) => why).join("; ")}`,
      "clearway hosts shows what is installed",
    );
  const peers = can.some(({ needs }) => needs === "native") ? compilePeers() : undefined;
  const arms = new Arms(peers && { [PEERS_VARIABLE]: JSON.stringify(peers.peers) });
  try {
    return await interruptible(
      () => arms.interrupt(),
      async (signal) => {
        const hosts = new Set(can.map(({ host }) => host));
        const questions = can.length === 1 ? "1 question" : `${can.length} questions`;
        printError(`${questions}, at most ${duration(time * 1000)}\n`);
        const results = await runEngine(out, {
          ...(limits && { limits: LIMITS }),
          ...{ kind: "lab", comparisons: can, missing, isNamed, seed, json, signal, begin },
          controls: [...CONTROLS, ...CONTROLS_IN_OTHER_BROWSERS].filter(({ host }) => !isNamed && hosts.has(host)),
          ...{ budgetMs: time * 1000, command: commandOf(options, chosen, isNamed) },
          open: (host, arm, cores) => arms.open(host, arm, cores),
          browsers: () => arms.browserVersions(),
        });
        return statusOf(results);
      },
    );
  } finally {
    await arms.close();
    peers?.remove();
  }
}

function commandOf({ time, limits, host }: LabOptions, chosen: readonly Comparison[], isNamed: boolean): string {
  const names = isNamed ? ` ${chosen.map(({ name }) => name).join(" ")}` : "";
  const hosts = host === undefined ? "" : ` --host ${host.join(",")}`;
  return `clearway lab${names}${hosts}${limits === true ? " --limits" : ""}${time === undefined ? "" : ` --time ${time}`}`;
}

/** Returns what this machine lacks, one entry for each reason. */
async function missingHere(chosen: readonly Comparison[]): Promise<LabResults["missing"]> {
  const pinning = new Arms().pinning;
  const jvm = findJvmRunner();
  const hosts: Record<ArmHost, string | undefined> = {
    node: undefined,
    chromium: browserProblem("chromium"),
    firefox: browserProblem("firefox"),
    webkit: browserProblem("webkit"),
    jvm: typeof jvm === "string" ? jvm : undefined,
  };
  const lacks: Record<NonNullable<Comparison["needs"]>, string | undefined> = {
    native: chosen.some(({ needs }) => needs === "native")
      ? ((await pluginProblem()) ?? (await koffiProblem()))
      : undefined,
    nats: remoteProblem(["clearway-nats", "@nats-io/jetstream", "@nats-io/transport-node"]),
    piscina: packagesMissing(["piscina"]),
    msgpackr: packagesMissing(["msgpackr"]),
  };
  const reasons = new Map<string, string[]>();
  for (const each of chosen) {
    const why = hosts[each.host] ?? (each.needs && lacks[each.needs]) ?? (each.cores === "one" ? pinning : undefined);
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), each.name]);
  }
  return [...reasons].map(([why, names]) => ({ why, names }));
}
