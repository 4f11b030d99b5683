// SPDX-License-Identifier: MIT OR Apache-2.0
// The name of a kept run's folder, DATE-MACHINE, and what makes two runs runs of one machine.
import type { MachineFacts } from "../machine/facts.js";
import type { RunRecord } from "../run/record.js";

const SLUG_CHARACTERS_MAX = 48;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/;

/** Returns the name of a run's folder: the day of its start in UTC, the CPU and the number of cores. */
export function recordName({ startedAt, machine }: Pick<RunRecord, "startedAt" | "machine">): string {
  return `${startedAt.slice(0, 10)}-${machineSlug(machine)}`;
}

/** Returns whether a text is a time as the lab writes it, such as 2026-01-02T03:04:05.000Z. */
export function isTime(text: string): boolean {
  return TIME.test(text) && Number.isFinite(Date.parse(text));
}

/** Returns the CPU and its cores in lower-case letters, digits and hyphens: `intel-xeon-processor-2-cores`. */
export function machineSlug({ cpu, cores }: Pick<MachineFacts, "cpu" | "cores">): string {
  const words = cpu
    .toLowerCase()
    .replace(/\((?:r|tm|c)\)|@.*$/g, " ")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, SLUG_CHARACTERS_MAX)
    .replace(/^-+|-+$/g, "");
  return `${words === "" ? "unknown-cpu" : words}-${cores}-cores`;
}

/**
 * Returns a text that is the same for two runs of one machine. Machines with the same hardware cannot be told apart. The kernel's version
 * is left out, because an update does not make another machine.
 */
export function machineKey({ os, arch, cpu, cores, memoryGb, virtual }: MachineFacts): string {
  return JSON.stringify([os.split(" ")[0], arch, cpu, cores, Math.round(memoryGb), virtual]);
}
