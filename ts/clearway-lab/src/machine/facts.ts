// SPDX-License-Identifier: MIT OR Apache-2.0
// The facts about the machine and the build that a reader needs to interpret a number.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";

export interface MachineFacts {
  os: string;
  arch: string;
  cpu: string;
  cores: number;
  memoryGb: number;
  /** The governor of the CPU, or "unknown" if the system does not report it. */
  governor: string;
  virtual: string;
  /** To which memory Linux gives transparent huge pages: "always", "madvise" (memory that asks for them) or "never". */
  hugePages?: string;
  loadBefore: number;
  /** Share of CPU time that the hypervisor took away during the run, in percent. Null if the system does not report it. */
  stealPercent: number | null;
}

export interface BuildFacts {
  lab: string;
  clearway: string;
  node: string;
  v8: string;
  chromium: string | null;
  firefox?: string;
  webkit?: string;
  commit: string | null;
  /** Options that change the speed: NODE_OPTIONS and the process's own flags. */
  nodeOptions: string;
  peers: Record<string, string>;
}

/** The versions of the browsers that a run used. */
export type BrowserVersions = { readonly [Name in "chromium" | "firefox" | "webkit"]?: string | undefined };

export function machineFacts(): MachineFacts {
  const cpus = os.cpus();
  const hugePages = hugePagesOf(readFile("/sys/kernel/mm/transparent_hugepage/enabled") ?? "");
  return {
    os: `${os.type()} ${os.release()}`,
    arch: os.arch(),
    cpu: cpus[0]?.model.trim() || "unknown",
    cores: os.availableParallelism(),
    memoryGb: Number((os.totalmem() / 2 ** 30).toFixed(1)),
    governor: readFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? "unknown",
    virtual: /\bhypervisor\b/.test(readFile("/proc/cpuinfo") ?? "") ? "virtual machine" : "no sign of one",
    ...(hugePages !== undefined && { hugePages }),
    loadBefore: Number(os.loadavg()[0]!.toFixed(2)),
    stealPercent: null,
  };
}

/** Returns the chosen setting of Linux's file `transparent_hugepage/enabled`, such as `always [madvise] never`. */
export function hugePagesOf(file: string): string | undefined {
  return /\[(always|madvise|never)\]/.exec(file)?.[1];
}

/** Returns the time of all CPUs in jiffies, stolen and in total. Undefined outside Linux. */
export function cpuTimes(): { stolen: number; all: number } | undefined {
  const line = /^cpu\s+(.+)$/m.exec(readFile("/proc/stat") ?? "");
  if (line === null) return undefined;
  const fields = line[1]!.trim().split(/\s+/).map(Number);
  // The fields: user nice system idle iowait irq softirq steal. The guest time, which follows them, is already part of user.
  return { stolen: fields[7] ?? 0, all: fields.slice(0, 8).reduce((sum, field) => sum + field, 0) };
}

export function stealPercent(before: ReturnType<typeof cpuTimes>, after: ReturnType<typeof cpuTimes>): number | null {
  if (before === undefined || after === undefined || after.all === before.all) return null;
  return Number((((after.stolen - before.stolen) / (after.all - before.all)) * 100).toFixed(2));
}

const PEERS = [
  ...["comlink", "rxjs", "piscina", "tinypool", "workerpool", "poolifier", "msgpackr", "cbor-x", "koffi"],
  ...["@nats-io/transport-node", "@nats-io/jetstream"],
];

/** The version of a peer that is not installed. */
export const NOT_INSTALLED = "not installed";

/** Returns the facts about the build. `names` are the compared libraries (peers), whose versions are reported. */
export function buildFacts(
  { chromium, firefox, webkit }: BrowserVersions = {},
  names: readonly string[] = PEERS,
): BuildFacts {
  return {
    lab: versionOf("clearway-lab") ?? "unknown",
    clearway: versionOf("clearway") ?? "unknown",
    node: process.version,
    v8: process.versions.v8,
    chromium: chromium ?? null,
    ...(firefox !== undefined && { firefox }),
    ...(webkit !== undefined && { webkit }),
    commit: commit(),
    nodeOptions: [process.env["NODE_OPTIONS"] ?? "", ...process.execArgv].join(" ").trim(),
    peers: Object.fromEntries(names.map((name) => [name, versionOf(name) ?? NOT_INSTALLED])),
  };
}

/** Returns the version of an installed package. */
export function versionOf(name: string): string | undefined {
  const require = createRequire(import.meta.url);
  // Not every package exports its package.json, so it is read from the folders that Node would search.
  for (const folder of require.resolve.paths(name) ?? []) {
    const text = readFile(`${folder}/${name}/package.json`);
    if (text !== undefined) return (JSON.parse(text) as { version?: string }).version;
  }
  return undefined;
}

function commit(): string | null {
  try {
    return execFileSync("git", ["rev-parse", "--short=12", "HEAD"], { stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  } catch {
    return null;
  }
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}
