// SPDX-License-Identifier: MIT OR Apache-2.0
// The task of docs/recipes-apps.md for pages.
// #region find
import { record, text, u32 } from "clearway/records";
import { expose, task } from "clearway/worker";
import { pauses } from "./pauses.js";

export const Word = record({ number: u32, text: text() });
const texts = Array.from({ length: 200_000 }, (_, number) => number.toString(36));

export default expose({
  find: task(async ({ signal }, part: string) => {
    const pause = pauses();
    const found = Word.table();
    for (const [number, text] of texts.entries()) {
      if (number % 1_000 === 0) await pause();
      if (signal.aborted) break; // the caller has left: nothing needs the table
      if (text.includes(part)) found.push({ number, text });
    }
    return found;
  }),
});
// #endregion find
