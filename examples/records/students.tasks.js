// SPDX-License-Identifier: MIT OR Apache-2.0
// #region task
import { record, text, u32 } from "clearway/records";
import { expose } from "clearway/worker";

export const Student = record({ rollNum: u32, name: text({ dictionary: true }) });
const names = ["Asha", "Björn", "Chidi", "Dilara", "Émile", "José", "Zoë"];

export default expose({
  /** @param {number} count */
  students(count) {
    const out = Student.table({ rowsPerChunk: 1 << 18 });
    for (let row = 0; row < count; row++) out.push({ rollNum: row + 1, name: names[row % names.length] ?? "" });
    return out; // moves the table to the caller
  },
});
// #endregion task
