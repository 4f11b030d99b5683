// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md for several task modules in one pool, and for async contexts.
import { AsyncLocalStorage } from "node:async_hooks";
import { fileURLToPath } from "node:url";
import { pool } from "clearway";
import { callback } from "clearway/callback";
import { Money } from "./money.js";

// #region modules
await using office = pool<typeof import("./office.tasks.js")>(new URL("./office.tasks.js", import.meta.url), {
  setup: { words: { file: fileURLToPath(new URL("../words.txt", import.meta.url)) } }, // by the name of the module
});
const halves = await office.call["money.split"](new Money(500), 2);
console.log(halves.join(" + "), await office.call["words.has"]("banana")); // 2.50 + 2.50 true
// #endregion modules

await using work = pool<typeof import("./work.tasks.js")>(new URL("./work.tasks.js", import.meta.url));

// #region contexts
const request = new AsyncLocalStorage<string>();
await request.run("request 7", async () => {
  await work.call.copyFiles(
    ["a.txt"],
    callback((file) => {
      console.log(request.getStore(), file); // request 7 a.txt
      return true;
    }),
  );
  console.log(request.getStore()); // request 7
  console.log(await work.call.label(request.getStore() ?? "none", "done")); // request 7: done
});
// #endregion contexts
