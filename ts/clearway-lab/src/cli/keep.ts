// SPDX-License-Identifier: MIT OR Apache-2.0
// `clearway keep DIR`: copies a finished run to a folder of records. docs/lab/records.md explains it.
import type { Command } from "commander";
import { KeptRunError } from "../compare/kept-run.js";
import { KeepError, type Kept, keep } from "../records/keep.js";
import { FailedError, UsageError } from "./errors.js";
import { readableError } from "./out-folder.js";
import { print } from "./print.js";

/** The folder of records in a repository. */
export const RECORDS_FOLDER = "lab/records";

export function addKeep(program: Command): void {
  program
    .command("keep")
    .description("copy a finished run to a folder of records: nothing in it names you or this machine")
    .argument("<dir>", "the folder of a run")
    .option("--records <dir>", "the folder of records; it is created if it does not exist", RECORDS_FOLDER)
    .action((run: string, { records }: { records: string }) => {
      process.exitCode = keepRecord(run, records);
    });
}

/** Keeps a run and prints where. Returns the exit status. */
export function keepRecord(run: string, records: string): number {
  const { folder, bytes, record } = kept(run, records);
  const say = (text: string) => print(`${text}\n`);
  say(`${folder} written: ${Math.ceil(bytes / 1000)} KB`);
  if (record.budgetEnded)
    say("- The time of this run ended before all rounds were done. Its trend has wider intervals.");
  if (record.cells.some(({ failure }) => failure !== undefined))
    say("- Some cells of this run failed. They are kept as failed.");
  const option = records === RECORDS_FOLDER ? "" : ` --records ${records}`;
  say(`Next: clearway trend${option} shows how its ratios changed.`);
  return 0;
}

function kept(run: string, records: string): Kept {
  try {
    return keep(run, records);
  } catch (error) {
    if (error instanceof KeptRunError || error instanceof KeepError) throw new UsageError(error.message);
    const readable = readableError(error, records);
    if (readable instanceof FailedError)
      throw new FailedError(readable.reason, readable.next.replaceAll("--out", "--records"));
    throw error;
  }
}
