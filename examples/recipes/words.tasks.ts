// SPDX-License-Identifier: MIT OR Apache-2.0
// A task module whose workers prepare themselves before their first call.
// #region setup-task
import { readFile } from "node:fs/promises";
import { expose } from "clearway/worker";

const words = new Set<string>();

export default expose(
  { has: (word: string) => words.has(word) },
  {
    // Runs once in each worker, before its first call.
    async setup({ file }: { file: string }) {
      for (const word of (await readFile(file, "utf8")).split("\n")) words.add(word);
    },
  },
);
// #endregion setup-task
