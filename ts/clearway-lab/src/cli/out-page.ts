// SPDX-License-Identifier: MIT OR Apache-2.0
// Checks the file to which a command writes a page, before the page is made.
import { statSync } from "node:fs";
import path from "node:path";
import { UsageError } from "./errors.js";
import { headOf } from "./file-head.js";

/**
 * Returns the path of a page that may be written. Throws a UsageError if its folder does not exist, or if the file exists and is not a page
 * with this title: no foreign file is overwritten.
 */
export function openPage(file: string, title: string): string {
  const folder = path.dirname(path.resolve(file));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`--out ${file}: the folder ${folder} does not exist; create it with mkdir -p "${folder}"`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size === 0)) return file;
  if (found.isDirectory())
    throw new UsageError(`--out ${file} is a folder; name a file, such as ${path.join(file, "page.html")}`);
  if (found.isFile() && headOf(file).includes(`<title>${title}</title>`)) return file;
  throw new UsageError(
    `--out ${file} was not written by this command, and would be overwritten; name another file, or move it away`,
  );
}
