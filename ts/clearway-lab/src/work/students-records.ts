// SPDX-License-Identifier: MIT OR Apache-2.0
// The Clearway way with records: the worker pushes rows, and a table arrives.
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
