// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Measures the sum of a numeric column of a table from a worker. It reads the column in several ways: a plain
// loop over a typed array, the same loop over the column's own memory, and row numbers with one cursor per chunk.
import { pool } from "clearway";
import { shuffler } from "../../statistics/rounds.ts";

/**
 * The number of rounds after which V8 has compiled the final code of each reader. The first rounds of the cursor take three times as long.
 */
const warmRounds = 8;

/** Returns the milliseconds of every round, for each way of reading. */
export async function scan({ rows, rounds, seed }, host) {
  await import("clearway/records");
  const workers = pool(host.workerUrl("records.tasks"), { size: 1 });
  const table = await workers.call.readings(rows);
  const array = Float64Array.from({ length: rows }, (_, row) => row / 8);
  const readers = {
    "plain loop": () => sum(array),
    column: () => {
      let total = 0;
      for (const { values } of table.column("value").chunks) total += sum(values);
      return total;
    },
    "chunk cursors": () => {
      let total = 0;
      for (const cursor of table.cursors()) for (let row = 0; row < cursor.length; row++) total += cursor.at(row).value;
      return total;
    },
  };
  const expected = ((rows - 1) * rows) / 16;
  const figures = Object.fromEntries(Object.keys(readers).map((name) => [name, []]));
  const shuffle = shuffler(seed);
  for (let round = -warmRounds; round < rounds; round++) {
    for (const name of shuffle(Object.keys(readers))) {
      const begin = performance.now();
      const total = readers[name]();
      const elapsed = performance.now() - begin;
      // Every partial sum is a multiple of 1/8 below 2^53 / 8, so it is exact in any order.
      if (total !== expected) throw new Error(`wrong sum: reader=${name} total=${total} expected=${expected}`);
      if (round >= 0) figures[name].push(elapsed);
      await host.sleep(1);
    }
  }
  await workers.close();
  return figures;
}

function sum(values) {
  let total = 0;
  for (let at = 0; at < values.length; at++) total += values[at];
  return total;
}
