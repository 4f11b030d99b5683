// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway hosts`: reports the hosts that can measure here, and the conditions for a run on this machine. Node is necessary. Other hosts may be
// missing, but what is installed must work.
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { findChromium } from "../../../../scripts/chromium.mjs";
import { onInterruption } from "../../../../scripts/interruption.mjs";
import { browserProblem, isBrowser } from "../browser/open.js";
import {
  type BuildFacts,
  buildFacts,
  cpuTimes,
  type MachineFacts,
  machineFacts,
  NOT_INSTALLED,
  stealPercent,
} from "../machine/facts.js";
import { IdleWatch } from "../machine/idle-watch.js";
import type { ByHost, Description, HostName } from "../protocol/message.js";
import { findJvmRunner, findSwiftRunner, flutterMissing, Runners } from "../runner/runners.js";
import { HOST_NAMES } from "../scenario/scenario.js";
import { columned, columnsOf, fitted, print, printJson } from "./print.js";

/** How long the idle thread is observed, in milliseconds: long enough to see a stall that comes once a second. */
const QUIET_MS = 2000;

export interface Examination {
  version: 1;
  /**
   * Whether the lab can measure here. False if Node's runner does not work, or if an installed program of another host does not.
   */
  ok: boolean;
  machine: MachineFacts;
  build: BuildFacts;
  chromium: string | null;
  noise: { lateMs: number; seconds: number; stealPercent: number | null };
  hosts: HostExamination[];
}

export interface HostExamination {
  host: HostName;
  /** `missing`: something optional is not installed. `broken`: it is installed and does not work. */
  state: "ok" | "missing" | "broken";
  problem?: string;
  runtime?: string;
  clockStepUs?: number;
  crossOriginIsolated?: boolean;
  fresh?: Description["fresh"];
  /** The number of mechanisms that can run. */
  mechanisms?: number;
}

export function addHosts(program: Command): void {
  program
    .command("hosts")
    .description(
      "report the hosts that can measure here, the clocks, the isolation of pages and the noise of the machine",
    )
    .option("--json", "print JSON")
    .action(async ({ json = false }: { json?: boolean }) => {
      // The runners end with this process.
      const stop = onInterruption(() => process.exit(130));
      const found = await examine().finally(stop);
      if (json) printJson(found);
      else print(examinationText(found, columnsOf()) + "\n");
      process.exitCode = found.ok ? 0 : 1;
    });
}

async function examine(): Promise<Examination> {
  const machine = machineFacts();
  const before = cpuTimes();
  const watch = new IdleWatch();
  await sleep(50);
  watch.begin();
  await sleep(QUIET_MS);
  const lateMs = watch.end();
  await watch.close();
  const noise = { lateMs, seconds: QUIET_MS / 1000, stealPercent: stealPercent(before, cpuTimes()) };
  const hosts = await examineHosts();
  return {
    version: 1,
    ok: hosts.every(({ host, state }) => state === "ok" || (state === "missing" && host !== "node")),
    machine,
    build: buildFacts(),
    chromium: findChromium() ?? null,
    noise,
    hosts,
  };
}

async function examineHosts(): Promise<HostExamination[]> {
  const runners = new Runners();
  try {
    const { described, problems, broken } = await askHosts(runners, HOST_NAMES);
    return HOST_NAMES.map((host): HostExamination => {
      const facts = described[host];
      if (facts === undefined)
        return { host, state: broken?.includes(host) ? "broken" : "missing", problem: problems[host] ?? "unknown" };
      const { runtime, clockStepUs, crossOriginIsolated, fresh } = facts;
      const mechanisms = facts.mechanisms.filter(({ unavailable }) => !unavailable).length;
      return { host, state: "ok", runtime, clockStepUs, crossOriginIsolated, fresh, mechanisms };
    });
  } finally {
    await runners.close();
  }
}

const NAME_WIDTH = 22;
/** Narrower terminals get the names on lines of their own. */
const WIDE = 70;

/** Returns the examination as text of at most `width` columns. Without a width, each fact has one line. */
export function examinationText({ machine, build, chromium, noise, hosts }: Examination, width?: number): string {
  const peers = Object.entries(build.peers).flatMap(([name, version]) =>
    version === NOT_INSTALLED ? [] : [`${name} ${version}`],
  );
  const facts: [string, string][] = [
    ["machine", `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ${machine.os} (${machine.virtual})`],
    ["governor, load", `${machine.governor}, ${machine.loadBefore}`],
    ["clearway, lab", `${build.clearway}, ${build.lab}${build.commit === null ? "" : ` at ${build.commit}`}`],
    ["peers", peers.join(", ") || "none installed"],
    ["chromium program", chromium ?? "none"],
    [
      "noise",
      `an idle thread woke up to ${noise.lateMs.toFixed(2)} ms late in ${noise.seconds} s; steal ${noise.stealPercent ?? "unknown"} %`,
    ],
    ...hosts.map((each): [string, string] => [each.host, hostText(each)]),
  ];
  return facts.flatMap(([name, text]) => factLines(name, text, width)).join("\n");
}

function factLines(name: string, text: string, width: number | undefined): string[] {
  if (width === undefined || width >= WIDE) return columned(name, text, NAME_WIDTH + 1, width);
  return [name, ...fitted(`  ${text}`, width, 2)];
}

function freshness(fresh: Description["fresh"]): string {
  return fresh === "JVM for each work"
    ? "a JVM for each work, kept for the run"
    : `a fresh ${fresh} for each measurement`;
}

function hostText({ host, state, problem, runtime, clockStepUs, mechanisms, ...facts }: HostExamination): string {
  if (state === "missing") return `cannot run${host === "node" ? "" : " (optional)"}: ${problem}`;
  if (state === "broken") return `does not work: ${problem}`;
  const memory = facts.crossOriginIsolated ? "shared memory" : "no shared memory";
  const fresh = facts.fresh === undefined ? "" : `, ${freshness(facts.fresh)}`;
  return `${runtime}, ${mechanisms} mechanisms, clock steps of ${clockStepUs} us, ${memory}${fresh}`;
}

// Asks each host's runner for its description. If a host cannot answer, the reason is recorded and reported.

export interface Hosts {
  described: ByHost<Description>;
  problems: ByHost<string>;
  /** The hosts among the problems whose programs are installed and do not work. The others are only not installed. */
  broken?: HostName[];
}

export async function askHosts(runners: Runners, hosts: readonly HostName[], jdk?: number): Promise<Hosts> {
  const described: Hosts["described"] = {};
  const problems: Hosts["problems"] = {};
  const broken: HostName[] = [];
  await Promise.all(
    hosts.map(async (host) => {
      const missing = notInstalled(host, jdk);
      if (missing !== undefined) {
        problems[host] = missing;
        return;
      }
      try {
        described[host] = await runners.describe(host);
      } catch (error) {
        problems[host] = `its runner did not start: ${(error as Error).message.split("\n")[0]}`;
        broken.push(host);
      }
    }),
  );
  return { described, problems, broken };
}

/** Returns why a host of the lab is not installed here, and the remedy; or undefined. Whether it works, its runner says. */
function notInstalled(host: HostName, jdk?: number): string | undefined {
  if (process.env["CLEARWAY_LAB_RUNNER"] !== undefined) return undefined;
  if (isBrowser(host)) return browserProblem(host);
  if (host === "flutter") return flutterMissing();
  const found = host === "jvm" ? findJvmRunner(jdk) : host === "swift" ? findSwiftRunner() : undefined;
  return typeof found === "string" ? found : undefined;
}

/**
 * Returns why a host's runner cannot run a mechanism, or undefined if it can. A cell with a reason is reported and not run.
 */
export function missingMechanism(
  description: Description | undefined,
  scenario: string,
  mechanism: string,
): string | undefined {
  if (description === undefined) return undefined;
  const known = description.mechanisms.find((each) => each.scenario === scenario && each.mechanism === mechanism);
  if (known !== undefined) return known.unavailable;
  return `this build's ${description.host} runner does not have it: in a clone of Clearway's repository run make lab, which builds it`;
}
