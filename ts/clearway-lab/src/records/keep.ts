// SPDX-License-Identifier: MIT OR Apache-2.0
// Keeps a finished run in a folder of records: its results, and its record with every round and the raw histograms. Nothing that is kept
// names the user, the machine or a path.
import { existsSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { KeptRunError, readKeptRun } from "../compare/kept-run.js";
import { makeFolders } from "../machine/make-folders.js";
import type { RunRecord } from "../run/record.js";
import { PACKED_RECORD_FILE, packedText, recordIn } from "../run/record-file.js";
import { type Results, resultsOf } from "../run/results.js";
import { assertResults } from "../run/schema.js";
import { UNFINISHED_FOLDER } from "../run/unfinished.js";
import { readRecords } from "./read-records.js";
import { isTime, recordName } from "./record-name.js";
import { leakIn, ownNames, redacted } from "./redact.js";

export interface Kept {
  /** The path of the new folder. */
  folder: string;
  bytes: number;
  /** The record as it was kept. */
  record: RunRecord;
}

/** A run that cannot be kept: it is not finished, or kept already. The message says what to do. */
export class KeepError extends Error {
  override readonly name = "KeepError";
}

/** The folder in which a record is written before it gets its name. Its name is none of a record. */
const WRITING = ".keeping-";
/** Runs of one day and machine are numbered from 2 on. */
const NUMBER_MAX = 1000;

/**
 * Copies the run in `source` into a new folder of `records`, which is created if it does not exist. Never changes an existing record, nor
 * the run. Throws a KeptRunError for a file that is no run, a KeepError for a run that is not finished or kept already, and the errors of
 * the file system.
 */
export function keep(source: string, records: string): Kept {
  refusePromises(source);
  const { file, record } = readKeptRun(source);
  assertFinished(file, record);
  const own = ownNames([path.resolve(path.dirname(file)), path.resolve(records)]);
  const kept = redacted(record, own);
  const results = resultsOfKept(file, kept);
  const leak = leakIn([kept, results], own);
  if (leak !== undefined)
    throw new KeepError(
      `${file} at ${leak.field.replace(/^\/\d/, "")}: it contains ${leak.what}, and is part of a cell's name, which cannot be changed: measure again with another name`,
    );
  refuseTwice(record, records);
  makeFolders(records);
  const temporary = mkdtempSync(path.join(records, WRITING));
  try {
    const packed = packedText(`${JSON.stringify(kept)}\n`);
    const text = `${JSON.stringify(results)}\n`;
    writeFileSync(path.join(temporary, "results.json"), text);
    writeFileSync(path.join(temporary, PACKED_RECORD_FILE), packed);
    assertReadable(temporary, file);
    const folder = renamed(temporary, path.join(records, recordName(kept)));
    return { folder, bytes: packed.length + Buffer.byteLength(text), record: kept };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Throws a KeepError for the figures of the profile promises: the docs have one kept run of them, in a file of its own. */
function refusePromises(source: string): void {
  const figures = path.join(source, "promises.json");
  const isRun = existsSync(path.join(source, "results.json")) || existsSync(recordIn(source));
  if (existsSync(figures) && !isRun)
    throw new KeepError(
      `${source} has the figures of the profile promises, which have no rounds for a trend: copy ${figures} to lab/records, where the docs take their figures from`,
    );
}

function assertFinished(file: string, record: RunRecord): void {
  const folder = path.dirname(file);
  const { startedAt, interrupted, done, planned, budgetEnded } = record;
  if (!isTime(startedAt))
    throw new KeptRunError(file, "/startedAt", `it is no time of a run: ${JSON.stringify(startedAt.slice(0, 60))}`);
  if (interrupted)
    throw new KeepError(
      `${file}: the run was interrupted after ${done} of ${planned} measurements: go on with clearway lab resume ${folder}, then keep it`,
    );
  if (existsSync(path.join(folder, UNFINISHED_FOLDER)))
    throw new KeepError(
      `${folder} has an unfinished run: go on with clearway lab resume ${folder}, or remove ${path.join(folder, UNFINISHED_FOLDER)} if you want to keep the older run`,
    );
  if (!(done >= planned) && budgetEnded !== true)
    throw new KeepError(`${file}: the run is not complete: done=${done}, planned=${planned}: measure again`);
  if (!record.cells.some(({ rounds }) => rounds.length > 0))
    throw new KeepError(`${file}: the run has no measurement: clearway lab list says what can run here`);
}

function resultsOfKept(file: string, record: RunRecord): Results {
  try {
    const results = resultsOf(record);
    assertResults(results);
    return results;
  } catch (error) {
    throw new KeptRunError(
      file,
      "",
      `no results follow from its rounds (${(error as Error).message.slice(0, 200)}): it was changed or damaged; measure again`,
    );
  }
}

/** Throws a KeepError if the written files cannot be read back: two cells may have differed only in the removed part of a path. */
function assertReadable(folder: string, file: string): void {
  try {
    readKeptRun(folder);
  } catch (error) {
    if (!(error instanceof KeptRunError)) throw error;
    const problem = error.message.slice(error.file.length);
    throw new KeepError(`${file} cannot be kept without the paths in it${problem}: measure again with other names`);
  }
}

/** Throws a KeepError if the folder of records has this run already. */
function refuseTwice({ startedAt, seed }: RunRecord, records: string): void {
  if (!statSync(records, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const { folder, run } of readRecords(records)) {
    if (run?.record.startedAt === startedAt && run.record.seed === seed)
      throw new KeepError(`this run is kept already: ${folder}`);
  }
}

/** Gives the folder its name, with a number if other runs have that name. Returns the path. */
function renamed(temporary: string, wanted: string): string {
  for (let number = 1; number <= NUMBER_MAX; number++) {
    const folder = number === 1 ? wanted : `${wanted}-${number}`;
    if (existsSync(folder)) continue;
    try {
      renameSync(temporary, folder);
      return folder;
    } catch (error) {
      // Another process took the name after the check.
      if (
        !["ENOTEMPTY", "EEXIST", "ENOTDIR", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "") ||
        !existsSync(folder)
      )
        throw error;
    }
  }
  throw new KeepError(
    `${wanted} has ${NUMBER_MAX} runs of one day: remove some, or name another folder with --records`,
  );
}
