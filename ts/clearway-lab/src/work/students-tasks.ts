// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's tasks: one returns columns, and Clearway transfers their buffers; the other returns plain objects.
import { expose } from "clearway/worker";
import { makeStudentColumns, makeStudents, type Student, type StudentColumns } from "../isolate/student.js";

export default expose({
  make(rows: number): StudentColumns {
    return makeStudentColumns(rows);
  },
  /** The rows as plain objects, which cross in pieces. */
  makeObjects(rows: number): Student[] {
    return makeStudents(rows);
  },
});
