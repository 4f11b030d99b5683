// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds what differs between two runs besides the measured code. Such a difference can cause any other.
import type { RunRecord } from "../run/record.js";
import { CORES_PARAM } from "../scenario/plan.js";
import { cellKey } from "./kept-run.js";

/** The kinds of differences. `clearway compare --max` refuses each of them unless the user allows it by this name. */
export const DIFFERENCE_KINDS = ["machine", "runtime", "profile", "pinning"] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  kind: DifferenceKind;
  /** What differs, for example "CPU". */
  what: string;
  a: string;
  b: string;
  next: string;
}

const NEXT: Record<DifferenceKind, string> = {
  machine: "measure both on one machine",
  runtime: "measure both with the same runtime and options",
  profile: "measure both with the same profile and version of the lab",
  pinning: "measure both with the same pinning: pin threads on both machines (taskset), or on neither",
};

export function differencesOf(a: RunRecord, b: RunRecord): Difference[] {
  const found: Difference[] = [];
  const add = (kind: DifferenceKind, what: string, first: unknown, second: unknown) => {
    if (first !== second) found.push({ kind, what, a: shown(first), b: shown(second), next: NEXT[kind] });
  };
  for (const [field, what] of Object.entries(MACHINE)) {
    const name = field as keyof typeof MACHINE;
    add("machine", what, a.machine[name], b.machine[name]);
  }
  add("runtime", "Node", a.build.node, b.build.node);
  add("runtime", "options of Node", a.build.nodeOptions, b.build.nodeOptions);
  for (const [host, name] of Object.entries({ chromium: "Chromium", jvm: "JVM", flutter: "Flutter", swift: "Swift" })) {
    const [first, second] = [a.hosts[host], b.hosts[host]];
    if (first === undefined || second === undefined) continue;
    add("runtime", name, first.runtime, second.runtime);
    add("runtime", `isolation of ${host}`, first.crossOriginIsolated, second.crossOriginIsolated);
  }
  add("profile", "profile", a.profile, b.profile);
  add("profile", "version of the lab", a.build.lab, b.build.lab);
  for (const { name, compare } of a.scenarios) {
    const other = b.scenarios.find((scenario) => scenario.name === name);
    if (other !== undefined) add("profile", `compared figure of ${name}`, compare, other.compare);
  }
  for (const { scenario, mechanism, first, second } of pinnedDifferently(a, b))
    add("pinning", `cores of ${scenario}/${mechanism}`, first, second);
  return found;
}

/** The facts that identify a machine and its state, and their names for the reader. */
const MACHINE = {
  os: "operating system",
  arch: "architecture",
  cpu: "CPU",
  cores: "number of cores",
  memoryGb: "memory in GB",
  governor: "CPU governor",
  virtual: "virtual machine",
} as const;

/** Finds the cells that one run has pinned to cores and the other run has not, or to other ones. One per scenario and mechanism. */
function pinnedDifferently(a: RunRecord, b: RunRecord) {
  const keys = [a, b].map(({ cells }) => new Set(cells.map(cellKey)));
  const [inA, inB] = keys as [Set<string>, Set<string>];
  const found = new Map<string, { scenario: string; mechanism: string; first: string; second: string }>();
  for (const cell of a.cells.filter((each) => !inB.has(cellKey(each)))) {
    const other = b.cells.find((each) => !inA.has(cellKey(each)) && withoutCores(each) === withoutCores(cell));
    if (other === undefined) continue;
    const { scenario, mechanism } = cell;
    const [first, second] = [cell, other].map(({ params }) => String(params[CORES_PARAM] ?? "any")) as [string, string];
    found.set(`${scenario}/${mechanism}`, { scenario, mechanism, first, second });
  }
  return [...found.values()];
}

function withoutCores(cell: RunRecord["cells"][number]): string {
  const { [CORES_PARAM]: _, ...params } = cell.params;
  return cellKey({ ...cell, params });
}

function shown(value: unknown): string {
  return value === undefined || value === "" ? "none" : String(value);
}
