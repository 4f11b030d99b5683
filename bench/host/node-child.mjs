// SPDX-License-Identifier: MIT OR Apache-2.0
// A fresh process for one measurement. Its parent sends the probe's name and parameters.
import { host } from "./in-node.mjs";

process.once("message", async ({ probe, params }) => {
  let answer;
  try {
    const module = await import(`../probe/${probe}.mjs`);
    answer = { result: await module[probe](params, host) };
  } catch (error) {
    answer = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  // Peers leave threads and timers behind, so the process exits without waiting for them.
  process.send(answer, () => process.exit(0));
});
