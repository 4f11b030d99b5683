// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's records: the worker adds rows to a table, and the table moves to the main thread.
import { expose } from "clearway/worker";
import { studentAt } from "../isolate/student.js";
import { StudentRecord } from "../isolate/student-record.js";

export default expose({
  make(rows: number) {
    const students = StudentRecord.table();
    for (let row = 0; row < rows; row++) students.push(studentAt(row));
    return students;
  },
});
