// SPDX-License-Identifier: MIT OR Apache-2.0
// #region two-way-task
import { expose } from "clearway/worker";

export default expose({
  // Reads a stream and returns one. The window limits how far one side can run ahead of the other.
  async *caption(photos: AsyncIterable<Uint8Array>) {
    for await (const pixels of photos) {
      const mean = pixels.reduce((sum, level) => sum + level, 0) / pixels.length;
      yield mean < 128 ? "night" : "day";
    }
  },
});
// #endregion two-way-task
