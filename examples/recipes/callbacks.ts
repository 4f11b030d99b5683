// SPDX-License-Identifier: MIT OR Apache-2.0
// The code of docs/recipes.md for functions, objects and class instances that cross.
import { pool } from "clearway";
import { callback, proxy } from "clearway/callback";
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

// #region proxy
class Translations {
  readonly #words = new Map([["a", "A"]]);
  read = (key: string) => this.#words.get(key);
  write(key: string, text: string) {
    this.#words.set(key, text);
  }
  get size() {
    return this.#words.size;
  }
}
const translations = new Translations();
await work.call.translate(["a", "b"], proxy(translations)); // the task calls `read` and `write` here
console.log(translations.size); // 2
// #endregion proxy

// #region transfer
await using shop = pool<typeof import("./money.tasks.js")>(new URL("./money.tasks.js", import.meta.url));
const parts = await shop.call.split(new Money(1000), 3); // `money.js` registers the class on both sides
console.log(parts.join(" + ")); // 3.34 + 3.33 + 3.33
// #endregion transfer
