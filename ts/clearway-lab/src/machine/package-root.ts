// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the folder of this package from any of its built files.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

let root: string | undefined;

export function packageRoot(): string {
  root ??= search(path.dirname(fileURLToPath(import.meta.url)));
  return root;
}

function search(folder: string): string {
  const file = path.join(folder, "package.json");
  if (existsSync(file) && (JSON.parse(readFileSync(file, "utf8")) as { name?: string }).name === "clearway-lab")
    return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`no package.json of clearway-lab above ${fileURLToPath(import.meta.url)}`);
  return search(parent);
}
