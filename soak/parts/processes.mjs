// SPDX-License-Identifier: MIT OR Apache-2.0
// Pools of child processes, with the operations of the part `pools`, and processes that freeze.
import { freeze } from "../faults.mjs";
import { crashed, openWith } from "./pools.mjs";

/** Opens the part. Processes start slowly, so fewer of them are ended. */
export function open(soak) {
  const part = openWith(soak, { processes: true, size: { min: 1, max: 2 } });
  const { random } = soak;
  const frozen = {
    name: "frozen process",
    weight: 0.4,
    expected: crashed,
    run: async ({ work }) => freeze(await work.call.pid(), random() * 500, random() < 0.5 ? "SIGCONT" : "SIGKILL"),
  };
  return { ...part, width: 6, renewEach: 1 / 2000, operations: [...part.operations, frozen] };
}
