// SPDX-License-Identifier: MIT OR Apache-2.0
// Records of runs that answer a question, for the tests of kept runs and of their trend.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { RunRecord } from "../../src/run/record.js";
import { resultsOf } from "../../src/run/results.js";
import { cell, measured, record } from "../record.js";

export interface Fixture {
  /** Clearway's longest stall / structured clone's in each round. */
  ratios?: number[];
  /** The second measurement of structured clone / the first, in each round. */
  noise?: number;
  day?: string;
  commit?: string | null;
  cpu?: string;
  more?: Partial<RunRecord>;
}

const ROWS = { rows: 1_000_000 };

/** Returns a record with one question about `students` and one more cell, in as many rounds as there are ratios. */
export function askedRecord({
  ratios = [0.01, 0.011, 0.012, 0.013, 0.014],
  noise = 1.02,
  ...rest
}: Fixture = {}): RunRecord {
  const { day = "2026-01-02", commit = "0123456789ab", cpu = "A CPU", more = {} } = rest;
  const whole = record();
  const students = (ms: number) => measured({ longestStall: ms, totalRuntime: ms * 2 }, [], ms);
  const round = (of: (ratio: number) => number) => ratios.map((ratio) => students(of(ratio)));
  return {
    ...whole,
    startedAt: `${day}T03:04:05.000Z`,
    machine: { ...whole.machine, cpu },
    build: { ...whole.build, commit },
    scenarios: whole.scenarios.filter(({ name }) => name === "students"),
    questions: [
      {
        name: "records",
        question: "Does the main thread stay free while a million records arrive?",
        sentence: "A million records held it for {subject} and for {reference}",
        comparisons: [
          {
            ...{ host: "node", scenario: "students", params: ROWS, metric: "longestStall" },
            ...{ subject: "clearway-records", reference: "worker-clone", others: [] },
          },
        ],
      },
    ],
    cells: [
      cell(
        "students",
        "worker-clone",
        ROWS,
        round(() => 500),
      ),
      cell(
        "students",
        "worker-clone",
        { ...ROWS, control: "A/A" },
        round(() => 500 * noise),
      ),
      cell(
        "students",
        "clearway-records",
        ROWS,
        round((ratio) => 500 * ratio),
      ),
      cell(
        "students",
        "clearway-columns",
        ROWS,
        round(() => 5),
      ),
    ],
    ...more,
  };
}

/** A temporary folder for runs and records. */
export class Scratch {
  readonly path = mkdtempSync(path.join(tmpdir(), "clearway-records-"));
  #runs = 0;

  /** Writes a run as `clearway lab` does, with further files. Returns its folder. */
  run(of: RunRecord, files: Record<string, string> = {}): string {
    const folder = path.join(this.path, `run-${++this.#runs}`);
    mkdirSync(folder);
    writeFileSync(path.join(folder, "record.json"), JSON.stringify(of));
    writeFileSync(path.join(folder, "results.json"), JSON.stringify(resultsOf(of)));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    return folder;
  }

  folder(name: string): string {
    return path.join(this.path, name);
  }
}
