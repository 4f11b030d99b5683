// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's records: the worker adds rows to a table, and the table moves to the main thread.
import { expose } from "clearway/worker";
import { studentAt } from "../isolate/student.js";
import { StudentRecord } from "../isolate/student-record.js";

const ROWS_PER_PART = 1 << 20;

export default expose({
  make(rows: number) {
    const students = StudentRecord.table();
    for (let row = 0; row < rows; row++) students.push(studentAt(row));
    return students;
  },
  /** The same rows as a stream of tables. */
  *makeParts(rows: number) {
    for (let from = 0; from < rows; from += ROWS_PER_PART) {
      const students = StudentRecord.table();
      for (let row = from; row < Math.min(rows, from + ROWS_PER_PART); row++) students.push(studentAt(row));
      yield students;
    }
  },
});
