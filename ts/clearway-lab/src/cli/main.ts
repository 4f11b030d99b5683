#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The `clearway` command. docs/lab/command-line.md lists the exit statuses: 0 success, 1 failed, 2 a wrong argument, 130 interrupted.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError } from "commander";
import { packageRoot } from "../machine/package-root.js";
import { isPromiseProfile, type PromiseProfile } from "../promises/scenario.js";
import type { HostName } from "../protocol/message.js";
import type { ForeignRunners } from "../runner/runners.js";
import type { ProfileName } from "../scenario/scenario.js";
import { addAdvise } from "./advise.js";
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
import { lab } from "./lab.js";
import type { LabOptions } from "./lab-options.js";
import { list } from "./list.js";
import { addMeasure } from "./measure.js";
import { print, printError, printUncaught } from "./print.js";
import { addRatio } from "./ratio.js";
import { report } from "./report.js";
import { addResume } from "./resume.js";
import { parseHostNames, parseJdk, parseNames, parseProfile, parseRounds, parseSeed, UsageError } from "./select.js";
import { columnsOf, helpItem } from "./width.js";

type LabArguments = Omit<LabOptions, "profile" | "host" | "runner"> & {
  family?: string[];
  profile: ProfileName | PromiseProfile;
  host?: HostName[];
  dryRun?: boolean;
  runner?: ForeignRunners;
};

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
    "families (isolate, memory, push, channel, offload, remote), scenarios (students) or cells (students/comlink); default: the thirteen questions in the profile quick, everything in the profile full",
  )
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
    "quick (thirteen questions, under 5 minutes), full (everything, hours), published (the five published experiments, an hour), promises (the promised figures, 5 minutes) or promises-full",
    parseProfile,
    "quick",
  )
  .option(
    "--rounds <number>",
    "rounds of each cell; default: in the profile quick five, and up to nine for an undecided question",
    parseRounds,
  )
  .option("--out <dir>", "output folder", "out")
  .option("--seed <number>", "repeat the order of an earlier run", parseSeed)
  .option("--dry-run", "print what would be measured and how long it would take; measure nothing")
  .option("--json", "print the summary as JSON")
  .action(async (what: string[], given: LabArguments) => {
    const { profile, runner = {}, family = [], dryRun: isDry = false } = given;
    const options = { ...given, host: chosenHosts(given.host, runner) };
    const listed = what[0] === "list";
    const names = [...what.slice(listed ? 1 : 0), ...family];
    if (given.without !== undefined && (listed || isPromiseProfile(profile)))
      throw new UsageError(
        "--without is for a run or a dry run of cells: leave it out of lab list and of the promises",
      );
    if (isPromiseProfile(profile)) {
      const { listPromises, promises } = await import("./promises.js");
      if (family.length > 0) throw new UsageError(`the profile ${profile} has no families; name its scenarios`);
      if (Object.keys(runner).length > 0)
        throw new UsageError(`the profile ${profile} measures the lab's own hosts; leave --runner out`);
      if (isDry) throw new UsageError(`the profile ${profile} has no dry run: leave --dry-run out, or use lab list`);
      process.exitCode = listed ? listPromises(names, options.json) : await promises(names, { ...options, profile });
      return;
    }
    const labOptions = { ...options, profile };
    process.exitCode = await (listed
      ? list(names, labOptions)
      : isDry
        ? dryRun(names, labOptions)
        : lab(names, labOptions));
  });
addResume(labCommand);
labCommand.addHelpText(
  "after",
  "\nclearway lab list                       the cells that can run here, and the reasons for the others\nclearway lab list channel               those of a family, scenario or cell\nclearway lab list --profile promises    the promised figures and their targets",
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
addAdvise(program);

addJank(program);
addBench(program);
addInit(program);
addMeasure(program);
addRatio(program);

program.enablePositionalOptions();
for (const command of program.commands) command.exitOverride();

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
