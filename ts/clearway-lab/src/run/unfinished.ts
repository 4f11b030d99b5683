// SPDX-License-Identifier: MIT OR Apache-2.0
// The folder DIR/unfinished of a run: its plan and every finished measurement, so that an interrupted run can go on. Each file is
// written to a temporary file, flushed and renamed: whatever ends the process, only the current measurement is lost.
//
//   run.json       the plan: options, versions, machine
//   000017.json    the measurement at position 17 of the run's order, or its failure
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import type { Rest } from "../machine/other-load.js";
import type { RecordedRound } from "./record.js";

export const UNFINISHED_FOLDER = "unfinished";
export const UNFINISHED_VERSION = 1;
const PLAN_FILE = "run.json";

/** What must be the same when a run goes on. */
export interface UnfinishedPlan {
  version: number;
  startedAt: string;
  /** How often the run has gone on after an interruption. */
  resumed: number;
  seed: number;
  /** The named families, scenarios and cells. */
  what: string[];
  /** The families, scenarios or cells that are left out. Their order counts in the digest all the same. */
  without?: string[];
  profile: string;
  host: string[];
  rounds?: number;
  jdk?: number;
  /** Number of planned measurements, and a digest of all cells and their order. */
  planned: number;
  digest: string;
  /** The facts about the machine, the build and the hosts that could change a time: names and values. */
  facts: Record<string, string>;
}

/** A finished measurement of an unfinished run. */
export interface KeptMeasurement {
  position: number;
  /** A digest of the cell, so that a file of another run is not taken for this one's. */
  cell: string;
  tookMs: number;
  recorded?: RecordedRound;
  failure?: string;
  /** The rest before the measurement, if there was one. */
  rest?: Rest;
}

/** A folder that has no unfinished run, or one that cannot go on. The message says what to do. */
export class UnfinishedError extends Error {
  override readonly name = "UnfinishedError";
}

/** Keeps the finished measurements of a run in a folder. */
export class Unfinished {
  readonly #folder: string;
  readonly #kept: ReadonlyMap<number, KeptMeasurement>;
  readonly #onProblem: (problem: string) => void;
  #broken = false;

  private constructor(
    folder: string,
    kept: ReadonlyMap<number, KeptMeasurement>,
    onProblem: (problem: string) => void,
  ) {
    this.#folder = folder;
    this.#kept = kept;
    this.#onProblem = onProblem;
  }

  /** Begins a run: removes an earlier unfinished run of the folder. Throws an UnfinishedError if the folder cannot be written. */
  static begin(out: string, plan: UnfinishedPlan, onProblem: (problem: string) => void): Unfinished {
    const folder = path.join(out, UNFINISHED_FOLDER);
    try {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      writeFiles({ [path.join(folder, PLAN_FILE)]: JSON.stringify(plan) });
    } catch (error) {
      throw new UnfinishedError(
        `${folder} cannot be written (${(error as Error).message}): name another folder with --out`,
      );
    }
    return new Unfinished(folder, new Map(), onProblem);
  }

  /** Goes on with the run in the folder. Throws an UnfinishedError if `plan` is not the kept one's. */
  static goOn(out: string, plan: UnfinishedPlan, onProblem: (problem: string) => void): Unfinished {
    const folder = path.join(out, UNFINISHED_FOLDER);
    assertSamePlan(out, readPlan(out), plan);
    const kept = new Map<number, KeptMeasurement>();
    for (const name of readdirSync(folder).filter((each) => /^\d{6,}\.json$/.test(each))) {
      const found = measurementOf(path.join(folder, name));
      if (found !== undefined && found.position === Number(name.slice(0, -5))) kept.set(found.position, found);
      else onProblem(`${path.join(folder, name)} is malformed: its measurement is made again`);
    }
    writeFiles({ [path.join(folder, PLAN_FILE)]: JSON.stringify(plan) });
    return new Unfinished(folder, kept, onProblem);
  }

  /** Returns the kept measurement at a position, if it is of this cell. */
  at(position: number, cell: string): KeptMeasurement | undefined {
    const found = this.#kept.get(position);
    return found?.cell === cell ? found : undefined;
  }

  get count(): number {
    return this.#kept.size;
  }

  /** Returns the time that the kept measurements took, in milliseconds. */
  get spentMs(): number {
    return [...this.#kept.values()].reduce((sum, { tookMs }) => sum + tookMs, 0);
  }

  /** Returns the rests before the kept measurements. */
  get rests(): readonly Rest[] {
    return [...this.#kept.values()].flatMap(({ rest }) => rest ?? []);
  }

  /** Writes a finished measurement. If that fails, reports it once and goes on: the run itself is not affected. */
  keep(measurement: KeptMeasurement): void {
    if (this.#broken) return;
    try {
      const name = `${String(measurement.position).padStart(6, "0")}.json`;
      writeFiles({ [path.join(this.#folder, name)]: JSON.stringify(measurement) });
    } catch (error) {
      this.#broken = true;
      this.#onProblem(
        `finished measurements cannot be kept, so the run could not go on after a crash: ${(error as Error).message}`,
      );
    }
  }

  /** Removes the folder, because the run is finished. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Reads the plan of the unfinished run in a folder. Throws an UnfinishedError if there is none. */
export function readPlan(out: string): UnfinishedPlan {
  const file = path.join(out, UNFINISHED_FOLDER, PLAN_FILE);
  if (!existsSync(file))
    throw new UnfinishedError(
      `${out} has no unfinished run (${file} does not exist): name the folder of an interrupted run, or start one with clearway lab`,
    );
  let plan: UnfinishedPlan;
  try {
    plan = JSON.parse(readFileSync(file, "utf8")) as UnfinishedPlan;
  } catch (error) {
    throw new UnfinishedError(
      `${file} is not JSON (${(error as Error).message}): start the run again with clearway lab`,
    );
  }
  const wrong = problemOf(plan);
  if (wrong !== undefined) throw new UnfinishedError(`${file} ${wrong}: start the run again with clearway lab`);
  return plan;
}

function problemOf(plan: UnfinishedPlan): string | undefined {
  if (plan === null || typeof plan !== "object") return "is not the plan of a run";
  if (plan.version !== UNFINISHED_VERSION)
    return `has an unknown version: version=${JSON.stringify(plan.version)}, known=${UNFINISHED_VERSION}`;
  const texts = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === "string");
  const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;
  const optional = (value: unknown) => value === undefined || isCount(value);
  const { what, without = [], host, facts } = plan;
  if (!texts(without)) return "has a malformed field: without";
  if (!texts(what)) return "has a malformed field: what";
  if (!texts(host)) return "has a malformed field: host";
  if (facts === null || typeof facts !== "object" || !texts(Object.values(facts)))
    return "has a malformed field: facts";
  for (const field of ["seed", "resumed", "planned"] as const)
    if (!isCount(plan[field])) return `has a malformed field: ${field}`;
  for (const field of ["rounds", "jdk"] as const) if (!optional(plan[field])) return `has a malformed field: ${field}`;
  for (const field of ["startedAt", "profile", "digest"] as const)
    if (typeof plan[field] !== "string") return `has a malformed field: ${field}`;
  return undefined;
}

function assertSamePlan(out: string, kept: UnfinishedPlan, now: UnfinishedPlan): void {
  const names = new Set([...Object.keys(kept.facts), ...Object.keys(now.facts)]);
  const changed = [...names].filter((name) => kept.facts[name] !== now.facts[name]);
  const what = changed.map((name) => `${name} was ${kept.facts[name] ?? "absent"}, is ${now.facts[name] ?? "absent"}`);
  if (kept.digest !== now.digest && changed.length === 0)
    what.push(
      `the cells or their order have changed (${kept.planned} measurements were planned, ${now.planned} are now)`,
    );
  if (what.length === 0) return;
  throw new UnfinishedError(
    `the run in ${out} cannot go on here, because its rounds would not be comparable: ${what.join("; ")}. ` +
      "Restore what has changed, or start the run again with clearway lab",
  );
}

function measurementOf(file: string): KeptMeasurement | undefined {
  let found: KeptMeasurement;
  try {
    found = JSON.parse(readFileSync(file, "utf8")) as KeptMeasurement;
  } catch {
    return undefined;
  }
  if (found === null || typeof found !== "object") return undefined;
  const { recorded, failure, tookMs, cell, rest } = found;
  const isObject = (value: unknown) => typeof value === "object" && value !== null;
  const isTime = (value: unknown) => typeof value === "number" && Number.isFinite(value);
  const { samples, values, notes } = recorded?.measurement ?? {};
  const isMeasured =
    typeof recorded?.round === "number" &&
    typeof recorded.machineStallMs === "number" &&
    isObject(samples) &&
    isObject(values) &&
    Array.isArray(notes);
  const isWhole = typeof cell === "string" && typeof tookMs === "number" && tookMs >= 0;
  const isRest = rest === undefined || (isTime(rest?.ms) && isTime(rest?.busyMs));
  return isWhole && isRest && (isMeasured || typeof failure === "string") ? found : undefined;
}
