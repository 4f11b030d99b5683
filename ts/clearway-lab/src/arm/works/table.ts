// SPDX-License-Identifier: MIT OR Apache-2.0
// Sums a column of a million rows of a table that came from a worker: by the column, row by row, and over a typed array without a table.
import { pool } from "clearway";
import { workerUrl } from "#lab-host";
import { type OpenArm, timedSync } from "../work.js";

const ROWS = 1_000_000;
const SUM = (ROWS * (ROWS + 1)) / 2;

async function students() {
  const workers = pool<typeof import("../../work/isolate-tasks.js")>(workerUrl("isolate-tasks"), { size: 1 });
  try {
    return await workers.call.records(ROWS);
  } finally {
    await workers.close();
  }
}

function arm(reader: (table: Awaited<ReturnType<typeof students>>) => () => number): OpenArm {
  return async () => {
    const read = reader(await students());
    const checked = (): number => {
      const total = read();
      if (total !== SUM) throw new Error(`the sum is wrong: sum=${total}, expected ${SUM}`);
      return total;
    };
    return { works: { sum: timedSync(checked, 1) }, close: () => {} };
  };
}

function sum(values: ArrayLike<number>): number {
  let total = 0;
  for (let at = 0; at < values.length; at++) total += values[at]!;
  return total;
}

export const column: OpenArm = arm((table) => () => {
  let total = 0;
  for (const { values } of table.column("rollNum").chunks) total += sum(values as Uint32Array);
  return total;
});

export const rows: OpenArm = arm((table) => () => {
  let total = 0;
  for (const cursor of table.cursors()) for (let row = 0; row < cursor.length; row++) total += cursor.at(row)!.rollNum;
  return total;
});

export const plain: OpenArm = arm(() => {
  const values = Uint32Array.from({ length: ROWS }, (_, row) => row + 1);
  return () => sum(values);
});
