// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway advise DIR`: what to use on this machine, from the results of a kept run.
import type { Command } from "commander";
import { machineFacts } from "../machine/facts.js";
import type { DeviceTime } from "../ratio/device-time.js";
import { adviseOf } from "../report/advise/advise.js";
import { loadScenarios } from "../scenario/load.js";
import { adviceLines } from "./advise-text.js";
import { DEVICE_HELP, parseDeviceOption } from "./device-option.js";
import { printJson } from "./json.js";
import { print } from "./print.js";
import { readRun } from "./run-files.js";
import { columnsOf } from "./width.js";

export function addAdvise(program: Command): void {
  program
    .command("advise")
    .description("say what to use on this machine: budgets of a frame, crossover sizes, executors; from a kept run")
    .argument("<dir>", "the folder of a run")
    .option("--device <file|ratio>", DEVICE_HELP, parseDeviceOption)
    .option("--json", "print JSON")
    .action((folder: string, { json = false, device }: { json?: boolean; device?: DeviceTime }) => {
      process.exitCode = advise(folder, json, device);
    });
}

/** Prints the advice of the run in `folder`. Returns the exit status: 1 if the run measured nothing that the advice could use. */
export function advise(folder: string, json: boolean, device?: DeviceTime): number {
  const { results, record } = readRun(folder);
  const advice = adviseOf(results, record, loadScenarios(), device);
  const { cpu, cores } = machineFacts();
  const elsewhere = results.machine.cpu !== cpu || results.machine.cores !== cores;
  if (json) printJson({ ...advice, fromThisMachine: !elsewhere });
  else print(`${adviceLines(advice, elsewhere, columnsOf()).join("\n")}\n`);
  const { budgets, crossovers, executors } = advice;
  return budgets.length + crossovers.length + executors.length === 0 ? 1 : 0;
}
