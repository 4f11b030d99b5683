// SPDX-License-Identifier: MIT OR Apache-2.0
// Clearway's task: it returns columns, and Clearway transfers their buffers.
import { expose } from "clearway/worker";
import { makeStudentColumns, type StudentColumns } from "../isolate/student.js";

export default expose({
  make(rows: number): StudentColumns {
    return makeStudentColumns(rows);
  },
});
