// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";

function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ms;
}

/** Work of four sizes. Also loaded on the caller's thread, for what runs inline. */
export default expose({
  arithmetic: (x) => Math.sqrt(x * x + 1) / (x + 2),
  lists: (list) =>
    list
      .map((x) => x * 2)
      .filter((x) => x % 3 !== 0)
      .reduce((sum, x) => sum + x, 0),
  oneMs: () => spin(1),
  tenMs: () => spin(10),
});
