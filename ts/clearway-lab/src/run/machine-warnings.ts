// SPDX-License-Identifier: MIT OR Apache-2.0
// Warnings about the machine and the build.
import type { HostName } from "../protocol/message.js";
import type { RunRecord } from "./record.js";
import type { Warning } from "./warning.js";

/** Limit for a stall of an idle thread, in milliseconds: a 60 Hz frame. A longer stall would have cost any app a frame. */
const MACHINE_STALL_MS = 1000 / 60;
/** Limit for a clock step, in microseconds. A coarser clock hides the cost of a hand-over on one thread. */
const CLOCK_COARSE_US = 20;

/** Use of other programs, in cores, from which on a run is of a busy machine. On two cores, it takes an eighth of the machine. */
const BUSY_CORES = 0.25;

/** Returns whether other programs use enough of the cores to change an answer. `otherCores` is their mean use, in cores. */
export function isBusy(otherCores: number): boolean {
  return otherCores >= BUSY_CORES;
}

type Measured = Pick<RunRecord, "machine" | "hosts" | "cells" | "build">;

export function machineWarnings({ machine, hosts, cells, build }: Measured): Warning[] {
  const warnings: Warning[] = [];
  const rounds = cells.flatMap((cell) => cell.rounds);
  const stalled = rounds.filter(({ machineStallMs }) => machineStallMs > MACHINE_STALL_MS);
  if (stalled.length > 0) {
    const longest = Math.max(...stalled.map(({ machineStallMs }) => machineStallMs));
    warnings.push({
      code: "machine-stalled",
      message: `During ${stalled.length} of ${rounds.length} measurements, an idle thread woke more than 16.7 ms late (at most ${longest.toFixed(0)} ms): the machine stalled, not the mechanism.`,
      next: "run on a quieter machine, or one with more cores",
    });
  }
  const { otherCores } = machine;
  if (otherCores === undefined ? machine.loadBefore > machine.cores / 2 : isBusy(otherCores)) {
    warnings.push({
      code: "load-high",
      message:
        otherCores === undefined
          ? `Load was ${machine.loadBefore} on ${machine.cores} cores before the run began.`
          : `Other programs used ${otherCores} of ${machine.cores} cores during the run.`,
      next: "close other programs and run again",
    });
  }
  if (machine.stealPercent !== null && machine.stealPercent > 1) {
    warnings.push({
      code: "steal-seen",
      message: `The hypervisor took ${machine.stealPercent} % of the CPU time during the run.`,
      next: "run on a machine without other tenants",
    });
  }
  if (machine.governor !== "performance" && machine.governor !== "unknown") {
    warnings.push({
      code: "governor",
      message: `The CPU governor is ${machine.governor}: the clock speed changes with the load.`,
      next: "set it to performance for the run",
    });
  }
  if (machine.virtual === "virtual machine") {
    warnings.push({
      code: "virtual-machine",
      message:
        "This is a virtual machine: waking a sleeping core costs several times as much as on bare metal. Ratios carry over to other machines, microseconds do not.",
      next: "run on the machine you care about",
    });
  }
  if (machine.cores < 4) {
    warnings.push({
      code: "few-cores",
      message: `${machine.cores} cores: a worker, the main thread, the browser's own processes and the lab share them.`,
      next: "compare with a run on four cores or more",
    });
  }
  for (const [host, facts] of Object.entries(hosts) as [HostName, { clockStepUs: number }][]) {
    if (facts.clockStepUs <= CLOCK_COARSE_US) continue;
    warnings.push({
      code: "clock-coarse",
      message: `The clock of ${host} steps by ${facts.clockStepUs} us: that is more than many hand-overs take.`,
      next: "the page must be cross-origin isolated: clearway hosts",
    });
  }
  if (build.nodeOptions.replace(/--max-old-space-size=\d+/, "").trim() !== "") {
    warnings.push({
      code: "node-options",
      message: `Node runs with options: ${build.nodeOptions}`,
      next: "run without them, unless you measure their effect",
    });
  }
  return warnings;
}
