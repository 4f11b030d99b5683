// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway export FORMAT RUN`: prints a run in another format. The JSON of a run is its results.json.
import { Argument, type Command } from "commander";
import { jetpackReport } from "../export/jetpack.js";
import { markdownText } from "../export/markdown.js";
import { print, printJson } from "./print.js";
import { readAnswers } from "./run-files.js";

/** Adds the command to the program. */
export function addExport(program: Command): void {
  program
    .command("export")
    .description("print a run as Markdown, or as the Benchmark JSON of Android's Jetpack Benchmark")
    .addArgument(new Argument("<format>").choices(["markdown", "jetpack"]))
    .argument("<run>", "the folder of a run, or its results.json")
    .action((format: "markdown" | "jetpack", run: string) => {
      const results = readAnswers(run);
      if (format === "markdown") print(markdownText(results));
      else printJson(jetpackReport(results));
    });
}
