// SPDX-License-Identifier: MIT OR Apache-2.0
// The search of docs/recipes-apps.md.
/// <reference types="vite/client" />
// #region search
import { pool } from "clearway";
import type { Table } from "clearway/records";

type Found = Table<typeof import("./find.tasks.js").Word>;

const words = pool<typeof import("./find.tasks.js")>(
  () => new Worker(new URL("./find.tasks.ts", import.meta.url), { type: "module" }),
);

/** Finds the words with `part`, and passes them, or the error, to `show`. The returned function cancels that. */
export function search(part: string, show: (found: Found | Error) => void): () => void {
  const leaving = new AbortController();
  const settled = (found: Found | Error) => {
    if (!leaving.signal.aborted) show(found);
  };
  words.with({ signal: leaving.signal }).call.find(part).then(settled, settled);
  return () => leaving.abort();
}
// #endregion search

// #region hot
if (import.meta.hot) {
  import.meta.hot.data.words?.terminate(); // the pool of this module before the change
  import.meta.hot.data.words = words;
}
// #endregion hot
