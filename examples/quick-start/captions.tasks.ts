// SPDX-License-Identifier: MIT OR Apache-2.0
// #region two-way-task
import { expose } from "clearway/worker";

export default expose({
  // Reads a stream and returns one. Neither side runs ahead of the other by more than the window.
  async *caption(photos: AsyncIterable<Uint8Array>) {
    for await (const pixels of photos) {
      const mean = pixels.reduce((sum, level) => sum + level, 0) / pixels.length;
      yield mean < 128 ? "night" : "day";
    }
  },
});
// #endregion two-way-task
