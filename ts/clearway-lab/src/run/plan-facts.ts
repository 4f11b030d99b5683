// SPDX-License-Identifier: MIT OR Apache-2.0
// What a run that goes on must have in common with its beginning.
import { createHash } from "node:crypto";
import type { BuildFacts, MachineFacts } from "../machine/facts.js";
import type { Description, HostName } from "../protocol/message.js";
import type { PlannedCell, PlannedMeasurement } from "../scenario/plan.js";

/** Returns a digest of everything that defines a cell: its request, settings and expected result. */
export function cellDigest(cell: PlannedCell): string {
  const { scenario, mechanism, host, params, control, cores } = cell;
  return digestOf([scenario.name, mechanism.name, mechanism.settings, scenario.expected, host, params, control, cores]);
}

/** Returns a digest of the order of all measurements. */
export function orderDigest(order: readonly PlannedMeasurement[]): string {
  return digestOf(order.map(({ cell, round }) => [cellDigest(cell), round]));
}

/** Returns the facts that could change a time, by names for the reader. */
export function comparedFacts(
  machine: MachineFacts,
  build: BuildFacts,
  hosts: Partial<Record<HostName, Pick<Description, "runtime" | "crossOriginIsolated">>>,
): Record<string, string> {
  const { os, arch, cpu, cores, memoryGb, governor, virtual } = machine;
  const { lab, clearway, commit, node, nodeOptions, peers } = build;
  const facts = {
    ...{ "operating system": os, architecture: arch, CPU: cpu, "number of cores": cores, "memory in GB": memoryGb },
    ...{
      "CPU governor": governor,
      "virtual machine": virtual,
      "version of the lab": lab,
      "version of Clearway": clearway,
    },
    ...{ commit: commit ?? "unknown", Node: node, "options of Node": nodeOptions },
    ...Object.fromEntries(Object.entries(hosts).map(([host, own]) => [`host ${host}`, own?.runtime ?? "unknown"])),
    ...Object.fromEntries(Object.entries(peers).map(([name, version]) => [`version of ${name}`, version])),
  };
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, String(value)]));
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}
