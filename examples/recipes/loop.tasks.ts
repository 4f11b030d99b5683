// SPDX-License-Identifier: MIT OR Apache-2.0
// The task of the recipe for a loop that reacts to cancellation.
import { expose, task } from "clearway/worker";
import { pauses } from "./src/pauses.js";

export default expose({
  count: task(async ({ signal, progress }) => {
    const pause = pauses();
    let turns = 0;
    for (; !signal.aborted; turns++) {
      if (turns % 1_000 === 0) await pause(); // the message of the cancellation arrives here
      if (turns === 5_000) progress(turns);
    }
    return turns;
  }),
});
