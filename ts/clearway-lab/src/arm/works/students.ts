// SPDX-License-Identifier: MIT OR Apache-2.0
// Records from a worker to the main thread. The cost is the longest stall of the main thread, or the time, until the first and the last row
// have been read.

import { measure } from "clearway/meter";
import { openWorker, workerUrl } from "#lab-host";
import type { Student } from "../../isolate/student.js";
import type { BareRequest } from "../../work/isolate-bare.js";
import { type OpenArm, timedCalls, type Work } from "../work.js";

interface Rows {
  length: number;
  at(row: number): Student | undefined;
}

const ROWS = 1_000_000;
/** A stream of tables has a hundred times as many. */
const ROWS_IN_PARTS = 100_000_000;
/** Enough rows to start the worker and to compile its code. */
const FEW_ROWS = 20_000;
/** Shortest stall that the meter records, in milliseconds. A run without a stall counts as one of this length. */
const STALL_MS_MIN = 1;

function works(make: (rows: number) => Promise<Rows>, rows = ROWS): Record<string, Work> {
  const checked = async (count: number): Promise<void> => {
    const rows = await make(count);
    const [first, last] = [rows.at(0), rows.at(count - 1)];
    if (rows.length !== count || first?.rollNum !== 1 || last?.name !== `student ${count}`)
      throw new Error(`the rows are wrong: length=${rows.length} first=${first?.rollNum} last=${last?.name}`);
  };
  return {
    "few-rows": timedCalls(() => checked(FEW_ROWS)),
    stall: {
      calls: 1,
      async run(costsNs) {
        const { report } = await measure(() => checked(rows), { hz: 60, floorMs: STALL_MS_MIN, stacks: false });
        costsNs.push(Math.max(report.longestMs, STALL_MS_MIN) * 1e6);
      },
    },
    total: timedCalls(() => checked(rows)),
  };
}

export const cloned: OpenArm = () => {
  const worker = openWorker("isolate-bare");
  let receive: (rows: Rows) => void = () => {};
  worker.listen((message) => receive(message as Rows));
  return {
    works: works(
      (rows) =>
        new Promise((resolve) => {
          receive = resolve;
          worker.post({ op: "students", kind: "clone", rows } satisfies BareRequest);
        }),
    ),
    close: () => worker.end(),
  };
};

async function openTasks() {
  const { pool } = await import("clearway");
  return pool<typeof import("../../work/isolate-tasks.js")>(workerUrl("isolate-tasks"), { size: 1 });
}

export const records: OpenArm = async () => {
  const workers = await openTasks();
  return { works: works((rows) => workers.call.records(rows)), close: () => workers.close() };
};

/** Plain objects, in pieces. */
export const sliced: OpenArm = async () => {
  const workers = await openTasks();
  return { works: works((rows) => workers.call.objects(rows)), close: () => workers.close() };
};

/** Reads and releases each table before the next one. Keeps the number of rows, and copies of the first and the last one. */
export const parts: OpenArm = async () => {
  const workers = await openTasks();
  const make = async (count: number): Promise<Rows> => {
    let [length, first, last] = [0, undefined as Student | undefined, undefined as Student | undefined];
    for await (const part of workers.call.recordParts(count)) {
      first ??= copyOf(part.at(0));
      last = copyOf(part.at(-1));
      length += part.length;
      part.release();
    }
    return { length, at: (row) => (row === 0 ? first : last) };
  };
  return { works: works(make, ROWS_IN_PARTS), close: () => workers.close() };
};

/** A row is a view that the next read moves. */
const copyOf = (row: Student | undefined): Student | undefined => row && { rollNum: row.rollNum, name: row.name };
