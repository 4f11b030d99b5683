// SPDX-License-Identifier: MIT OR Apache-2.0
// A kept run of the published experiments, with the runs that were added to it: what it lacked was measured later.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import type { HostName, Params } from "../protocol/message.js";
import { type RunRecord, runLetter } from "./record.js";

/** The file of the kept run. Added runs are the files `added-*.json.gz` beside it. */
const RECORD = "record.json.gz";
const IS_ADDED = /^added-.*\.json\.gz$/;

/** Reads the kept run in `folder`, and the added runs in the order of their files' names. Throws an Error if there is no run. */
export function readKept(folder: string): RunRecord {
  const read = (name: string) =>
    JSON.parse(gunzipSync(readFileSync(path.join(folder, name))).toString("utf8")) as RunRecord;
  if (!existsSync(path.join(folder, RECORD))) throw new Error(`there is no kept run: ${RECORD} is not in ${folder}`);
  const names = readdirSync(folder).filter((name) => IS_ADDED.test(name));
  return withAdded(read(RECORD), names.sort().map(read));
}

/**
 * Returns the run with the cells of added ones. A cell that was measured again has the later figures. A cell that the run
 * lacks and that could not be measured is added with its reason.
 */
export function withAdded(record: RunRecord, added: readonly RunRecord[]): RunRecord {
  const cells = new Map(record.cells.map((cell) => [cellKey(cell), cell]));
  let hosts = record.hosts;
  for (const [at, run] of added.entries()) {
    const letter = runLetter(at + 1);
    for (const cell of run.cells) {
      const key = cellKey(cell);
      if (cell.rounds.length > 0) cells.set(key, { ...cell, added: letter });
      else if (!cells.has(key) && (cell.failure ?? cell.unavailable) !== undefined) cells.set(key, cell);
    }
    hosts = { ...run.hosts, ...hosts };
  }
  return { ...record, hosts, cells: [...cells.values()], ...(added.length > 0 && { added: [...added] }) };
}

/** Names a cell by what it measures. Two runs may list the parameters in another order. */
export function cellKey(cell: { scenario: string; host: HostName; mechanism: string; params: Params }): string {
  const params = Object.entries(cell.params).sort(([a], [b]) => a.localeCompare(b));
  return JSON.stringify([cell.scenario, cell.host, cell.mechanism, params]);
}
