// SPDX-License-Identifier: MIT OR Apache-2.0
// A pool whose worker's script comes from another origin.
/// <reference types="vite/client" />
// #region cdn
import { pool } from "clearway";
import script from "./find.tasks.ts?worker&url"; // Vite: the address of the built file; it begins with `base`

const words = pool<typeof import("./find.tasks.js")>(() => {
  const code = `import ${JSON.stringify(new URL(script, import.meta.url).href)};`;
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const worker = new Worker(url, { type: "module" });
  URL.revokeObjectURL(url);
  return worker;
});
// #endregion cdn

const found = await words.call.find("zz");
document.title = `${found.length} words`;
