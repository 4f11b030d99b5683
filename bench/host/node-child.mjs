// SPDX-License-Identifier: MIT OR Apache-2.0
// A fresh process for one measurement: told by its parent which probe to run with which parameters.
import { host } from "./in-node.mjs";

process.once("message", async ({ probe, params }) => {
  let answer;
  try {
    const module = await import(`../probe/${probe}.mjs`);
    answer = { result: await module[probe](params, host) };
  } catch (error) {
    answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  // Peers leave threads and timers behind: the process does not wait for them.
  process.send(answer, () => process.exit(0));
});
