#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// The `clearway` command. docs/lab/command-line.md lists the exit statuses: 0 success, 1 failed, 2 a wrong argument, 130 interrupted.
import { readFileSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError, Option } from "commander";
import { packageRoot } from "../machine/optional-packages.js";
import type { HostName } from "../protocol/message.js";
import { DEFAULT_HOSTS, HOST_NAMES } from "../scenario/scenario.js";
import { addBench } from "./bench.js";
import { addCompare } from "./compare.js";
import { addHosts } from "./hosts-command.js";
import { addInit } from "./init.js";
import { addJank } from "./jank.js";
import { lab, listComparisons } from "./lab.js";
import { addMeasure } from "./measure.js";
import {
  columnsOf,
  FailedError,
  helpItem,
  print,
  printError,
  printUncaught,
  tolerateClosedOutput,
  UsageError,
} from "./print.js";
import { addRatio } from "./ratio.js";
import { addExport, report } from "./run-files.js";
import { parseHosts, parseRounds, parseSeconds, parseSeed } from "./select.js";

interface LabArguments {
  time?: number;
  profile?: "published";
  limits?: boolean;
  host?: HostName[];
  rounds?: number;
  out: string;
  seed?: number;
  json?: boolean;
  addTo?: string;
}

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
  .argument("[what...]", "questions, such as call or codec; default: all. With --profile: scenarios")
  .option("--time <seconds>", "time of the run; default: 280, or 30 for each named question", parseSeconds)
  .option("--host <names>", `${HOST_NAMES.join(", ")}, with commas; default: all but Firefox and WebKit`, parseHosts)
  .addOption(
    new Option("--profile <name>", "measure the five published experiments instead of questions (an hour)").choices([
      "published",
    ]),
  )
  .option("--rounds <number>", "with --profile: rounds of each measurement", parseRounds)
  .option(
    "--add-to <dir>",
    "with --profile: measure only what the kept run in DIR lacks, with what an hour has no room for",
  )
  .option("--limits", "measure everything that has a limit, and whether it is within it (15 minutes)")
  .option("--out <dir>", "output folder", "out")
  .option("--seed <number>", "repeat the order of an earlier run", parseSeed)
  .option("--json", "print the results as JSON")
  .action(async (what: string[], given: LabArguments) => {
    const { profile } = given;
    const listed = what[0] === "list";
    const names = what.slice(listed ? 1 : 0);
    if (listed && given.json === true) throw new UsageError("a list has no --json: leave it out");
    if (profile === undefined) {
      if (given.rounds !== undefined) throw new UsageError("--rounds is for --profile; questions have --time");
      if (given.addTo !== undefined) throw new UsageError("--add-to is for --profile published");
      process.exitCode = await (listed ? listComparisons(names, given) : lab(names, given));
      return;
    }
    if (given.time !== undefined) throw new UsageError("--time is for questions: leave it out, or leave --profile out");
    if (given.limits === true) throw new UsageError("--limits is for questions: leave --profile out");
    const { listPublished, published } = await import("./published.js");
    const options = { ...given, host: given.host ?? [...DEFAULT_HOSTS] };
    process.exitCode = listed ? listPublished(names) : await published(names, options);
  });
labCommand.addHelpText(
  "after",
  "\nclearway lab list           the questions, and what this machine lacks for them\nclearway lab list --limits  what has a limit",
);

program
  .command("report")
  .description("write report.html again from the results of a run")
  .argument("<dir>", "the folder of a run")
  .option("--out <file>", "the page to write; default: report.html in DIR")
  .action((dir: string, options: { out?: string }) => {
    process.exitCode = report(dir, options);
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
