// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures 100 M students as records. The other mechanisms cannot handle as many, so the figure is a stall and not a ratio. The
// students arrive as one table, or as a stream of tables that are read and released one by one. Only in the profile promises-full.
import { freemem } from "node:os";
import { median, spread } from "../../statistics/rounds.js";
import type { MeasurementContext } from "../run.js";
import type { StudentsFigures } from "./students.js";

const rowsWanted = 100_000_000;
/** Free memory per row, in bytes. A row has a number and a dictionary code. The factor 2 is for the worker's buffers, 1.5 is a reserve. */
const bytesPerRow = 8 * 2 * 1.5;

const kindsByPromise = { "students-huge": "records", "students-huge-stream": "records in parts" };

export async function studentsHuge({ host, collector, amounts }: MeasurementContext): Promise<void> {
  const labels = { mechanism: "clearway records", state: "1000 names" };
  if (amounts["rounds"] === 0) {
    const why = "only in the profile promises-full";
    for (const id of Object.keys(kindsByPromise)) collector.addMissingPromise(id, host.name, labels, why);
    return;
  }
  const rows = Math.min(rowsWanted, Math.floor(freemem() / bytesPerRow / 1_000_000) * 1_000_000);
  const size = rows === rowsWanted ? "" : `${rows / 1_000_000} M rows, the most that fits into free memory; `;
  for (const [id, kind] of Object.entries(kindsByPromise)) {
    const figures: StudentsFigures[] = [];
    for (let round = 0; round < (amounts["rounds"] ?? 0); round++)
      figures.push(await host.probe<StudentsFigures>("students", { kind, rows, names: 1000 }, 600_000));
    const of = (metric: keyof StudentsFigures) => figures.map((each) => each[metric]);
    const detail = `${size}including the machine's own stalls: ${median(of("anyStallMs")).toFixed(1)} ms`;
    collector.addPromise(id, host.name, { ...labels, detail }, spread(of("stallMs")));
  }
}
