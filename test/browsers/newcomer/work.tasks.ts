// SPDX-License-Identifier: MIT OR Apache-2.0
import { record, text, u32 } from "clearway/records";
import { expose } from "clearway/worker";

const Student = record({ rollNum: u32, name: text() });

export default expose({
  double: (value: number) => value * 2,
  *count(until: number) {
    for (let value = 0; value < until; value++) yield value;
  },
  students(rows: number) {
    const out = Student.table();
    for (let row = 1; row <= rows; row++) out.push({ rollNum: row, name: `student ${row}` });
    return out;
  },
});
