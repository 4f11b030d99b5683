#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The `clearway` command. Exit status: 0 success, 1 a cell or a host failed or a run had nothing to export, 2 a wrong argument,
// 130 interrupted.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError } from "commander";
import { packageRoot } from "../machine/package-root.js";
import { isPromiseProfile, type PromiseProfile } from "../promises/scenario.js";
import { HOST_NAMES, type ProfileName } from "../scenario/scenario.js";
import { doctor } from "./doctor.js";
import { type ExportFormat, exportRun, parseFormat } from "./export.js";
import { type LabOptions, lab } from "./lab.js";
import { list } from "./list.js";
import { listPromises, promises } from "./promises.js";
import { report } from "./report.js";
import { parseHosts, parseJdk, parseProfile, parseRounds, parseSeed, UsageError } from "./select.js";

type LabArguments = Omit<LabOptions, "profile"> & { family: string[]; profile: ProfileName | PromiseProfile };

const { version } = JSON.parse(readFileSync(path.join(packageRoot(), "package.json"), "utf8")) as {
  version: string;
};

const program = new Command("clearway")
  .description("Measures every way of crossing a thread boundary, on this machine.")
  .version(version)
  .exitOverride();

const labCommand = program
  .command("lab")
  .description("measure, then write results.json and report.html")
  .argument(
    "[what...]",
    "families (isolate, memory, push, channel, offload), scenarios (students) or cells (students/comlink); default: the twelve questions in the profile quick, everything in the profile full",
  )
  .option("--family <name>", "the same as naming the family", (name: string, all: string[]) => [...all, name], [])
  .option("--host <names>", "node, chromium, jvm, with commas; default: all", parseHosts, [...HOST_NAMES])
  .option("--jdk <release>", "the JDK for host jvm, e.g. 17; default: the newest installed", parseJdk)
  .option(
    "--profile <name>",
    "quick (twelve questions, under 5 minutes), full (everything, hours), promises (the promised figures, 5 minutes) or promises-full",
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
  .action(async (what: string[], options: LabArguments) => {
    const { profile } = options;
    const listed = what[0] === "list" && what.length === 1;
    if (isPromiseProfile(profile)) {
      if (options.family.length > 0) throw new UsageError(`the profile ${profile} has no families; name its scenarios`);
      process.exitCode = listed ? listPromises() : await promises(what, { ...options, profile });
      return;
    }
    process.exitCode = listed
      ? await list(options.host, options.jdk)
      : await lab([...what, ...options.family], { ...options, profile });
  });
labCommand.addHelpText(
  "after",
  "\nclearway lab list                       the cells that can run here, and the reasons for the others\nclearway lab list --profile promises    the promised figures and their targets",
);

program
  .command("report")
  .description("write report.html again from DIR/results.json and DIR/record.json")
  .argument("<dir>", "the folder of a run")
  .action(async (dir: string) => {
    process.exitCode = await report(dir);
  });

program
  .command("export")
  .description("convert a run for other tools; jetpack is the JSON of Android's Jetpack Benchmark")
  .argument("<format>", "jetpack", parseFormat)
  .argument("<run>", "the folder of a run, or its record.json")
  .option(
    "--out <file>",
    "output file; - is the standard output; default: clearway-benchmarkData.json in the run's folder",
  )
  .action(async (format: ExportFormat, run: string, options: { out?: string }) => {
    process.exitCode = await exportRun(format, run, options);
  });

program
  .command("doctor")
  .description(
    "report installed programs, the isolation of pages, the steps of the clocks and the noise of the machine",
  )
  .action(async () => {
    process.exitCode = await doctor();
  });

program
  .command("gen", { hidden: true })
  .description("moved to clearway-native")
  .argument("[what...]")
  .allowUnknownOption()
  .action(() => {
    throw new UsageError(
      "gen is a command of the package clearway-native now: npx clearway-native gen SCHEMA --c FILE --rust FILE",
    );
  });

for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has already written its message; help and version are not errors.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof UsageError) {
    process.stderr.write(`error: ${error.message}\n`);
    process.exitCode = 2;
  } else {
    throw error;
  }
}
