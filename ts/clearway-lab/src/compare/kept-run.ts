// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads a kept run: record.json or record.json.gz, and the results.json next to it.
import { statSync } from "node:fs";
import path from "node:path";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { RECORD_VERSION, type RecordedCell, type RunRecord } from "../run/record.js";
import { FILE_BYTES_MAX, RECORD_FILES, readText, recordIn } from "../run/record-file.js";
import type { Results } from "../run/results.js";
import { assertResults } from "../run/schema.js";
import { presentName } from "../scenario/former-names.js";
import { RECORD_SCHEMA } from "./record-schema.js";

export interface KeptRun {
  /** The record's path, as the user named it. */
  file: string;
  record: RunRecord;
}

/** A file that is not the record of a run, or not the one of its folder. The message names the file, the field and what to do. */
export class KeptRunError extends Error {
  override readonly name = "KeptRunError";

  constructor(
    readonly file: string,
    /** The field, as a JSON pointer. Empty for the whole file. */
    readonly field: string,
    problem: string,
  ) {
    super(`${file}${field === "" ? "" : ` at ${field}`}: ${problem}`);
  }
}

export { FILE_BYTES_MAX };

const NAME_A_RUN = "name the folder that `clearway lab --profile NAME --out` wrote, or its record.json";

/**
 * Reads the run in a folder, or the one that its record or results.json belongs to. Throws a KeptRunError if the record is missing, too
 * large, malformed, or of another run than the results.json next to it. Mechanisms that were renamed have their present names.
 */
export function readKeptRun(source: string): KeptRun {
  const file = recordFileOf(source);
  const record = readJson(file);
  assertRecord(file, record);
  rename(record);
  const beside = path.join(path.dirname(file), "results.json");
  const isNamed = (RECORD_FILES as readonly string[]).includes(path.basename(file));
  if (isNamed && statOf(beside)?.isFile()) assertSameRun(beside, readResults(beside), record);
  return { file, record };
}

function rename({ cells }: RunRecord): void {
  for (const cell of cells) cell.mechanism = presentName(cell.scenario, cell.mechanism);
}

function recordFileOf(source: string): string {
  const found = statOf(source);
  if (found === undefined) throw new KeptRunError(source, "", `it does not exist: ${NAME_A_RUN}`);
  if (found.isDirectory()) return existing(recordIn(source));
  // results.json has the medians of the rounds, but no round.
  if (path.basename(source) === "results.json") return existing(recordIn(path.dirname(source)));
  return source;
}

function existing(file: string): string {
  if (statOf(file) === undefined)
    throw new KeptRunError(
      file,
      "",
      `it does not exist, and without the rounds in it nothing can be compared: ${NAME_A_RUN}`,
    );
  return file;
}

function statOf(file: string) {
  return statSync(file, { throwIfNoEntry: false });
}

function readJson(file: string): unknown {
  const found = statOf(file);
  if (!found?.isFile()) throw new KeptRunError(file, "", `it is not a file: ${NAME_A_RUN}`);
  if (found.size > FILE_BYTES_MAX)
    throw new KeptRunError(file, "", `it is too large for a record: bytes=${found.size}, limit=${FILE_BYTES_MAX}`);
  let text: string;
  try {
    text = readText(file);
  } catch (error) {
    throw new KeptRunError(file, "", `it cannot be read: ${(error as Error).message}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = (error as Error).message.slice(0, 120);
    throw new KeptRunError(file, "", `it is not JSON (${problem}): it is truncated or another file; ${NAME_A_RUN}`);
  }
}

let compiled: ValidateFunction | undefined;

function assertRecord(file: string, value: unknown): asserts value is RunRecord {
  const { version, run } = (value ?? {}) as { version?: unknown; run?: unknown };
  if (run !== undefined)
    throw new KeptRunError(file, "/run", `these are results, which have medians but no rounds: name their record.json`);
  if (version !== undefined && version !== RECORD_VERSION)
    throw new KeptRunError(
      file,
      "/version",
      `this lab reads version ${RECORD_VERSION}, the file has version=${JSON.stringify(version)}: measure again with this lab`,
    );
  compiled ??= new Ajv2020({ allErrors: false, allowUnionTypes: true }).compile(RECORD_SCHEMA);
  const validate = compiled;
  if (!validate(value)) {
    const { instancePath = "", message = "is wrong" } = validate.errors?.[0] ?? {};
    throw new KeptRunError(
      file,
      instancePath || "/",
      `it ${message}, but is ${shownAt(value, instancePath)}: ${NAME_A_RUN}`,
    );
  }
  assertUnique(file, value as unknown as RunRecord);
}

/** Shows the value at a JSON pointer, shortened. */
function shownAt(value: unknown, pointer: string): string {
  let found: unknown = value;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    found = (found as Record<string, unknown> | undefined)?.[key];
  }
  const text = Array.isArray(found) ? "a list" : found !== null && typeof found === "object" ? "an object" : undefined;
  return text ?? JSON.stringify(found)?.slice(0, 60) ?? "missing";
}

/** Returns the key by which a cell is found in another run: everything that defines what is measured. */
export function cellKey(cell: Pick<RecordedCell, "scenario" | "host" | "mechanism" | "params">): string {
  const { scenario, host, mechanism, params } = cell;
  const sorted = Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([scenario, host, mechanism, sorted]);
}

function assertUnique(file: string, record: RunRecord): void {
  const seen = new Map<string, number>();
  for (const [at, cell] of record.cells.entries()) {
    const key = cellKey(cell);
    const first = seen.get(key);
    if (first !== undefined) throw new KeptRunError(file, `/cells/${at}`, `it is the same cell as /cells/${first}`);
    seen.set(key, at);
    const rounds = new Set<number>();
    for (const [position, { round }] of cell.rounds.entries()) {
      if (rounds.has(round))
        throw new KeptRunError(
          file,
          `/cells/${at}/rounds/${position}/round`,
          `the cell has this round twice: round=${round}`,
        );
      rounds.add(round);
    }
  }
}

function readResults(file: string): Results {
  const results = readJson(file);
  try {
    assertResults(results);
  } catch (error) {
    throw new KeptRunError(file, "", (error as Error).message);
  }
  return results;
}

/** Throws a KeptRunError if the results in `file` and the record next to it are not of the same run. */
export function assertSameRun(file: string, { run }: Results, { startedAt, seed }: RunRecord): void {
  for (const [field, own, other] of [
    ["startedAt", run.startedAt, startedAt],
    ["seed", run.seed, seed],
  ] as const) {
    if (own !== other)
      throw new KeptRunError(
        file,
        `/run/${field}`,
        `the record.json next to it is of another run: ${own} and ${other}`,
      );
  }
}
