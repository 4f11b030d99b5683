// SPDX-License-Identifier: MIT OR Apache-2.0
// The task of the recipe for a caller that blocks.
import { expose } from "clearway/worker";

export default expose({
  // #region blocking-task
  double(cell: Int32Array, value: number) {
    Atomics.store(cell, 1, value * 2);
    Atomics.store(cell, 0, 1);
    Atomics.notify(cell, 0);
  },
  // #endregion blocking-task
});
