// SPDX-License-Identifier: MIT OR Apache-2.0
import { record, text, u32 } from "clearway/records";
import { expose } from "clearway/worker";

const Student = record({ rollNum: u32, name: text({ dictionary: true }) });

export default expose({
  double: (value) => value * 2,
  chunks: async function* (count, bytes) {
    for (let at = 0; at < count; at++) yield new Uint8Array(bytes);
  },
  students(rows, names) {
    const table = Student.table();
    for (let row = 0; row < rows; row++) table.push({ rollNum: row + 1, name: `student ${(row % names) + 1}` });
    return table;
  },
});
