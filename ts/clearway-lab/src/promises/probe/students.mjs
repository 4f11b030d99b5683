// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs in Node or in a page. Each measurement has a new process or page. A worker makes N students. The measured time ends when this
// thread can use them. As proof, it includes reading the length, the first row and the last row.
import { pool } from "clearway";
import { measure } from "clearway/meter";
import { nameAt } from "../worker/students-make.mjs";

/** Minimum length of a stall that the meter records, in milliseconds. A run without stalls is reported with this length. */
const floorMs = 1;
/** Number of rows of the warm-up, which loads and compiles the code on both threads. Another line of the table measures a cold start. */
const warmRows = 20_000;

const decoder = new TextDecoder();

/** Readers of a worker's answer, by kind. worker/students-make.mjs makes the answers. */
const readers = {
  clone: (message) => ({ length: message.length, at: (row) => message[row] }),
  json: (message) => readers.clone(JSON.parse(message)),
  columns: ({ rollNum, codes, dictionary, ends, bytes }) => ({
    length: rollNum.length,
    at: (row) => ({
      rollNum: rollNum[row],
      name: codes ? dictionary[codes[row]] : decoder.decode(bytes.subarray(ends[row], ends[row + 1])),
    }),
  }),
};

/**
 * Returns the time from the request to the proof, and the longest stalls of this thread in that time, all in milliseconds. `anyStallMs`
 * is the longest of all stalls. `stallMs` leaves out the stalls that the meter attributes to the machine: the thread was not woken, or
 * an idle watcher was late too.
 */
export async function students({ kind, rows, names }, host) {
  const { make, stop } = kind.startsWith("records") ? await openPool(kind, host) : await openBareWorker(kind, host);
  for (let each = 0; each < 2; each++) readEnds(await make(warmRows, Math.min(names, warmRows)));
  let found;
  const { report } = await measure(
    async () => {
      found = readEnds(await make(rows, names));
    },
    { floorMs, stacks: false },
  );
  await stop();
  const expected = [rows, student(0, names), student(rows - 1, names)];
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`wrong students: ${JSON.stringify(found)}`);
  const ownStalls = report.stalls.filter(({ cause }) => cause !== "machine");
  return {
    stallMs: ownStalls.reduce((longest, { lengthMs }) => Math.max(longest, lengthMs), floorMs),
    anyStallMs: Math.max(floorMs, report.longestMs),
    totalMs: report.durationMs,
  };
}

const student = (row, names) => ({ rollNum: row + 1, name: nameAt(row, names) });
/** Returns the length, the first row and the last row. It copies the rows, because a row may be a view that the next read moves. */
const readEnds = (table) => [table.length, copy(table.at(0)), copy(table.at(table.length - 1))];
const copy = ({ rollNum, name }) => ({ rollNum, name });

async function openPool(kind, host) {
  // Imported only here, because only this code reads tables. A build without the records does not have this entry.
  await import("clearway/records");
  const workers = pool(host.workerUrl("records.tasks"), { size: 1 });
  const make = kind === "records" ? workers.call.students : readParts(workers.call.studentsInParts);
  return { make, stop: () => workers.close() };
}

/** Reads and releases each part before it requests the next part. Keeps only the length and two rows. */
const readParts = (call) => async (rows, names) => {
  const ends = {};
  let length = 0;
  for await (const part of call(rows, names)) {
    ends.first ??= copy(part.at(0));
    ends.last = copy(part.at(-1));
    length += part.length;
    part.release();
  }
  return { length, at: (row) => (row === 0 ? ends.first : ends.last) };
};

async function openBareWorker(kind, host) {
  const worker = host.openWorker(host.workerUrl("students"));
  let onTable = () => {};
  worker.listen((message) => onTable(readers[kind](message)));
  return {
    make: (rows, names) =>
      new Promise((resolve) => {
        onTable = resolve;
        worker.post({ kind, rows, names });
      }),
    stop: () => worker.end(),
  };
}
