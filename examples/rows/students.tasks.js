// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";

/** The names. Each has at most 8 bytes of UTF-8. */
const names = ["Asha", "Björn", "Chidi", "Dilara", "Émile", "José", "Zoë"];

export default expose({
  /**
   * Returns students as columns. Columns are flat buffers; Clearway finds them in the result and moves them. A million objects would be
   * copied one by one, and creating them again would block the main thread.
   *
   * @param {number} count
   */
  students(count) {
    const rollNum = new Int32Array(count);
    const nameEnds = new Uint32Array(count);
    const nameBytes = new Uint8Array(count * 8);
    const encoder = new TextEncoder();
    let end = 0;
    for (let row = 0; row < count; row++) {
      end += encoder.encodeInto(names[row % names.length] ?? "", nameBytes.subarray(end)).written;
      rollNum[row] = row + 1;
      nameEnds[row] = end;
    }
    return { rollNum, nameEnds, nameBytes: nameBytes.slice(0, end) };
  },
});
