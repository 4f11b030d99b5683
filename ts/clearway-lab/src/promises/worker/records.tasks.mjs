// SPDX-License-Identifier: MIT OR Apache-2.0
// Creates tables in a worker: students, and numbers to scan.
import { f64, record, text, u32 } from "clearway/records";
import { expose } from "clearway/worker";
import { nameAt } from "./students-make.mjs";

const Student = record({ rollNum: u32, name: text() });
const StudentWithDictionary = record({ rollNum: u32, name: text({ dictionary: true }) });
const Reading = record({ at: u32, value: f64 });
const rowsPerPart = 1 << 20;

export default expose({
  double: (value) => value * 2,
  students(rows, names) {
    const table = (names < rows ? StudentWithDictionary : Student).table();
    for (let row = 0; row < rows; row++) table.push({ rollNum: row + 1, name: nameAt(row, names) });
    return table;
  },
  /** The same students as tables of 2^20 rows. */
  *studentsInParts(rows, names) {
    for (let from = 0; from < rows; from += rowsPerPart) {
      const table = StudentWithDictionary.table({ rowsPerChunk: rowsPerPart });
      const to = Math.min(rows, from + rowsPerPart);
      for (let row = from; row < to; row++) table.push({ rollNum: row + 1, name: nameAt(row, names) });
      yield table;
    }
  },
  readings(rows) {
    const table = Reading.table();
    for (let row = 0; row < rows; row++) table.push({ at: row, value: row / 8 });
    return table;
  },
});
