// SPDX-License-Identifier: MIT OR Apache-2.0
// #region task
import { record, u8, u32 } from "clearway/records";
import { expose } from "clearway/worker";

export const Reading = record({ sensor: u32, value: u8 });

export default expose({
  /**
   * Yields the rows as tables of at most `rowsPerPart` rows.
   * @param {number} count
   * @param {number} rowsPerPart
   */
  *readings(count, rowsPerPart) {
    for (let from = 0; from < count; from += rowsPerPart) {
      const part = Reading.table({ rowsPerChunk: rowsPerPart });
      const end = Math.min(count, from + rowsPerPart);
      for (let row = from; row < end; row++) part.push({ sensor: row % 1000, value: row & 0xff });
      yield part; // moves the table to the caller, which has at most a few of them at a time
    }
  },
});
// #endregion task
