// SPDX-License-Identifier: MIT OR Apache-2.0
import { record, text, u32 } from "clearway/records";
import { expose } from "clearway/worker";

const Student = record({ rollNum: u32, name: text({ dictionary: true }) });

export default expose({
  students(rows, names) {
    const table = Student.table();
    for (let row = 0; row < rows; row++) table.push({ rollNum: row + 1, name: `student ${(row % names) + 1}` });
    return table;
  },
});
