#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The `clearway` command. docs/lab/command-line.md lists the exit statuses: 0 success, 1 failed, 2 a wrong argument, 130 interrupted.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError } from "commander";
import { packageRoot } from "../machine/package-root.js";
import type { HostName } from "../protocol/message.js";
import type { ForeignRunners } from "../runner/runners.js";
import type { ProfileName } from "../scenario/scenario.js";
import { addBench } from "./bench.js";
import { tolerateClosedOutput } from "./closed-output.js";
import { addCompare } from "./compare.js";
import { dryRun } from "./dry-run.js";
import { FailedError } from "./errors.js";
import { addExport } from "./export.js";
import { chosenHosts, parseRunner } from "./foreign.js";
import { addHosts } from "./hosts-command.js";
import { addInit } from "./init.js";
import { addJank } from "./jank.js";
import { lab, listComparisons } from "./lab.js";
import { list } from "./list.js";
import { addMeasure } from "./measure.js";
import { print, printError, printUncaught } from "./print.js";
import { addRatio } from "./ratio.js";
import { report } from "./report.js";
import type { ScenarioOptions } from "./scenario-options.js";
import { runScenarios } from "./scenario-run.js";
import {
  parseHostNames,
  parseJdk,
  parseNames,
  parseProfile,
  parseRounds,
  parseSeconds,
  parseSeed,
  UsageError,
} from "./select.js";
import { columnsOf, helpItem } from "./width.js";

type LabArguments = Omit<ScenarioOptions, "profile" | "host" | "runner"> & {
  time?: number;
  limits?: boolean;
  family?: string[];
  profile?: ProfileName;
  host?: HostName[];
  dryRun?: boolean;
  runner?: ForeignRunners;
};

/** The options that only scenarios have. */
const SCENARIO_OPTIONS = ["runner", "family", "without", "rounds", "dryRun", "jdk"] as const;

tolerateClosedOutput();
process.on("uncaughtException", printUncaught);

const { version } = JSON.parse(readFileSync(path.join(packageRoot(), "package.json"), "utf8")) as {
  version: string;
};

const program = new Command("clearway")
  .description("Measures every way of crossing a thread boundary, on this machine.")
  .version(version)
  .configureOutput({
    writeOut: print,
    writeErr: printError,
    getOutHelpWidth: () => columnsOf() ?? 100,
    getErrHelpWidth: () => columnsOf(process.stderr) ?? 100,
  })
  .configureHelp({ formatItem: helpItem })
  .exitOverride();

const labCommand = program
  .command("lab")
  .description("measure, then write results.json and report.html")
  .argument(
    "[what...]",
    "questions, such as call or codec; default: all. With --profile: families (isolate, memory, push, channel, offload, remote), scenarios (students) or cells (students/comlink)",
  )
  .option("--time <seconds>", "time of the run; default: 280, or 30 for each named question", parseSeconds)
  .option("--family <name>", "the same as naming the family", (name: string, all: string[] = []) => [...all, name])
  .option("--host <names>", "node, chromium, jvm, flutter, swift, with commas; default: all", parseHostNames)
  .option(
    "--runner <name=command>",
    "a host in any language (docs/lab/runner-protocol.md); may be repeated",
    parseRunner,
  )
  .option("--without <names>", "families, scenarios or cells to leave out, with commas", parseNames)
  .option("--jdk <release>", "the JDK for host jvm, e.g. 17; default: the newest installed", parseJdk)
  .option(
    "--profile <name>",
    "measure scenarios instead of questions: published (the five published experiments, an hour), quick (a look at named scenarios) or full (everything, hours)",
    parseProfile,
  )
  .option("--rounds <number>", "with --profile: rounds of each cell", parseRounds)
  .option("--limits", "measure everything that has a limit, and whether it is within it (15 minutes)")
  .option("--out <dir>", "output folder", "out")
  .option("--seed <number>", "repeat the order of an earlier run", parseSeed)
  .option("--dry-run", "print what would be measured and how long it would take; measure nothing")
  .option("--json", "print the summary as JSON")
  .action(async (what: string[], given: LabArguments) => {
    const { profile, runner = {}, family = [], dryRun: isDry = false } = given;
    const options = { ...given, host: chosenHosts(given.host, runner) };
    const listed = what[0] === "list";
    const names = [...what.slice(listed ? 1 : 0), ...family];
    if (profile === undefined) {
      const scenarioOption = SCENARIO_OPTIONS.find((name) => given[name] !== undefined);
      if (scenarioOption !== undefined)
        throw new UsageError(
          `--${scenarioOption === "dryRun" ? "dry-run" : scenarioOption} is for scenarios: add --profile quick, full or published`,
        );
      process.exitCode = await (listed ? listComparisons(names, given) : lab(names, given));
      return;
    }
    if (given.time !== undefined) throw new UsageError("--time is for questions: leave it out, or leave --profile out");
    if (given.limits === true) throw new UsageError("--limits is for questions: leave --profile out");
    if (given.without !== undefined && listed)
      throw new UsageError("--without is for a run or a dry run of cells: leave it out of lab list");
    const labOptions = { ...options, profile };
    process.exitCode = await (listed
      ? list(names, labOptions)
      : isDry
        ? dryRun(names, labOptions)
        : runScenarios(names, labOptions));
  });
labCommand.addHelpText(
  "after",
  "\nclearway lab list                       the questions, and what this machine lacks for them\nclearway lab list --profile full        the cells that can run here, and the reasons for the others\nclearway lab list --limits              everything that has a limit",
);

program
  .command("report")
  .description("write report.html again from the results and the record of a run")
  .argument("<dir>", "the folder of a run")
  .option("--out <file>", "the page to write; default: report.html in DIR")
  .action(async (dir: string, options: { out?: string }) => {
    process.exitCode = await report(dir, options);
  });

addExport(program);
addCompare(program);

addHosts(program);

addJank(program);
addBench(program);
addInit(program);
addMeasure(program);
addRatio(program);

program.enablePositionalOptions();
for (const command of program.commands)
  command.exitOverride().showHelpAfterError(`usage: ${command.createHelp().commandUsage(command)}`);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already written its message; help and version are not errors.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof UsageError || error instanceof FailedError) {
    printError(`error: ${error.message}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  } else {
    throw error;
  }
}
