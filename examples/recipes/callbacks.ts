// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md for functions and class instances that cross.
import { pool } from "clearway";
import { callback } from "clearway/callback";
import { Money } from "./money.js";

await using work = pool<typeof import("./work.tasks.js")>(new URL("./work.tasks.js", import.meta.url));

// #region callback
const existing = new Set(["b.txt"]);
const copied = await work.call.copyFiles(
  ["a.txt", "b.txt", "c.txt"],
  callback(async (file) => !existing.has(file)), // runs here, once for each question of the task
);
console.log(copied); // [ 'a.txt', 'c.txt' ]
// #endregion callback

// #region transfer
await using shop = pool<typeof import("./money.tasks.js")>(new URL("./money.tasks.js", import.meta.url));
const parts = await shop.call.split(new Money(1000), 3); // `money.js` registers the class on both sides
console.log(parts.join(" + ")); // 3.34 + 3.33 + 3.33
// #endregion transfer
