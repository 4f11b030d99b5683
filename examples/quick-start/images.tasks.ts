// SPDX-License-Identifier: MIT OR Apache-2.0
// #region tasks
import { setTimeout as wait } from "node:timers/promises";
import { expose, task } from "clearway/worker";

export default expose({
  // A plain function is a task. The buffer that it returns is moved, not copied.
  negative(pixels: Uint8Array) {
    return pixels.map((level) => 255 - level);
  },

  // A generator is a stream. It waits if its reader falls behind. If the reader stops, the generator's `finally` runs.
  *tiles(width: number, height: number, edge: number) {
    for (let y = 0; y < height; y += edge) {
      for (let x = 0; x < width; x += edge) yield { x, y, pixels: new Uint8Array(edge * edge) };
    }
  },

  // `task` is for a function that uses its context. The context is the first parameter; the caller does not pass it.
  film: task(async ({ signal, progress }, frames: number) => {
    for (let frame = 1; frame <= frames; frame++) {
      await wait(2, undefined, { signal }); // draws the frame
      progress(frame / frames);
    }
    return `${frames} frames`;
  }),
});
// #endregion tasks
