// SPDX-License-Identifier: MIT OR Apache-2.0
// Creates a folder and its parents.
import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Creates a folder and its missing parents. Throws the system's error if one cannot be created. Node's own recursive `mkdirSync` never
 * returns where the system refuses a folder with "no such file or directory" although its parent exists, as /proc does.
 */
export function makeFolders(folder: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !exists(at, folder); at = path.dirname(at)) missing.push(at);
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each);
    } catch (error) {
      // Another process may have created it meanwhile.
      if (!exists(each, folder)) throw error;
    }
  }
}

/** Throws the system's error if the path is a file, or below one: Node 24 says of a path below a file that it does not exist. */
function exists(at: string, folder: string): boolean {
  const found = statSync(at, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) {
    const code = at === path.resolve(folder) ? "EEXIST" : "ENOTDIR";
    throw Object.assign(new Error(`${code}: ${at} is a file`), { code, syscall: "mkdir", path: folder });
  }
  return found !== undefined;
}
