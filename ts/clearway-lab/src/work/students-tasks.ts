// SPDX-License-Identifier: MIT OR Apache-2.0
// The Clearway way: columns, whose buffers are transferred.
import { expose } from "clearway/worker";
import { makeStudentColumns, type StudentColumns } from "../isolate/student.js";

export default expose({
  make(rows: number): StudentColumns {
    return makeStudentColumns(rows);
  },
});
