// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools of child processes, with the operations of the part `pools`.
import { openWith } from "./pools.mjs";

/** Opens the part. Processes start slowly, so fewer of them are ended. */
export function open(soak) {
  const part = openWith(soak, { processes: true, size: { min: 1, max: 2 } });
  return { ...part, width: 6, renewEach: 1 / 2000 };
}
