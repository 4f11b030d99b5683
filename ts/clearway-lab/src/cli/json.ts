// SPDX-License-Identifier: MIT OR Apache-2.0
// `--json`: one JSON value on the standard output, for programs. Everything for people goes to the standard error.
import { verdictOf } from "../report/verdict.js";
import type { RunRecord } from "../run/record.js";
import type { Results } from "../run/results.js";
import { print } from "./print.js";

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2) + "\n");
}

/** Returns the summary of a run for programs. `folder` has the run's files, with all figures. */
export function summaryJson(results: Results, record: RunRecord, folder: string): unknown {
  const { run, cells, answers, warnings } = results;
  const count = (status: string) => cells.filter((cell) => cell.status === status).length;
  return {
    version: 1,
    folder,
    run,
    cells: { ok: count("ok"), unavailable: count("unavailable"), failed: count("failed") },
    failed: cells
      .filter(({ status }) => status === "failed")
      .map(({ scenario, mechanism, host, params, why }) => ({ cell: `${scenario}/${mechanism}`, host, params, why })),
    verdict: verdictOf(results, record),
    ...(answers === undefined ? {} : { answers }),
    warnings,
  };
}
