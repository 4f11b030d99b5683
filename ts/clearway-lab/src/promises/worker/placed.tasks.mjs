// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose } from "clearway/worker";

function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
  return ms;
}

/** Work of four sizes. The caller's thread also loads this module, for calls that run inline. */
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
