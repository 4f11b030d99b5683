// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the kept runs of a folder of records, one after the other, because a full run has tens of megabytes.
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { type KeptRun, KeptRunError, readKeptRun } from "../compare/kept-run.js";
import { recordIn } from "../run/record-file.js";

/** A folder of records: a run, or the reason why it cannot be read. */
export interface FoundRecord {
  /** The folder's path, as the user named it. */
  folder: string;
  run?: KeptRun;
  problem?: string;
}

/**
 * Yields each folder with a record, in the order of the names. Other files and folders are not records. Throws the errors of the file
 * system.
 */
export function* readRecords(records: string): Generator<FoundRecord> {
  for (const name of readdirSync(records).sort()) {
    const folder = path.join(records, name);
    if (name.startsWith(".") || !isRecord(folder)) continue;
    try {
      yield { folder, run: readKeptRun(folder) };
    } catch (error) {
      if (!(error instanceof KeptRunError)) throw error;
      yield { folder, problem: error.message };
    }
  }
}

function isRecord(folder: string): boolean {
  // A broken link has no status.
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  const has = (file: string) => statSync(file, { throwIfNoEntry: false }) !== undefined;
  return has(recordIn(folder)) || has(path.join(folder, "results.json"));
}
