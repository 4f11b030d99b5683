// SPDX-License-Identifier: MIT OR Apache-2.0
// What `clearway jank` measures: a page by its address, a local HTML file, or a Node script.
import { realpathSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export type Target =
  | { readonly kind: "url"; readonly name: string; readonly url: string }
  | { readonly kind: "page"; readonly name: string; readonly file: string }
  | { readonly kind: "script"; readonly name: string; readonly file: string };

const PAGES = [".html", ".htm"];
const SCRIPTS = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];

/** Returns the target that `text` names. Throws a `RangeError` that says what is wrong and what to name instead. */
export function parseTarget(text: string): Target {
  if (/^https?:/i.test(text)) {
    if (!URL.canParse(text)) throw new RangeError(`not an address: ${text}`);
    return { kind: "url", name: text, url: text };
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text) && !/^file:/i.test(text))
    throw new RangeError(`${text}: only http and https addresses and files can be measured`);
  const file = /^file:/i.test(text) ? fileOf(text) : path.resolve(text);
  const extension = path.extname(file).toLowerCase();
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new RangeError(`${text} does not exist: name an address, an HTML file or a script`);
  if (stats.isDirectory()) throw new RangeError(`${text} is a folder: name the HTML file or the script in it`);
  if (!stats.isFile()) throw new RangeError(`${text} is not a regular file: name an HTML file or a script`);
  if (PAGES.includes(extension)) return { kind: "page", name: text, file: realpathSync(file) };
  if (SCRIPTS.includes(extension)) return { kind: "script", name: text, file: realpathSync(file) };
  throw new RangeError(
    `${text}: a page ends in ${PAGES.join(" or ")}, a Node script in ${SCRIPTS.slice(0, -1).join(", ")} or ${SCRIPTS.at(-1)}`,
  );
}

function fileOf(text: string): string {
  try {
    return fileURLToPath(text);
  } catch {
    throw new RangeError(`not the address of a file of this machine: ${text}`);
  }
}

/** Measuring is not possible here. The message says why, and what to do. */
export class CannotMeasure extends Error {}
