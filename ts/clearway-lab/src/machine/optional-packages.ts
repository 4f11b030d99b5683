// SPDX-License-Identifier: MIT OR Apache-2.0
// The packages that only some commands need. The lab does not install them; a command that needs one says how to.
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Returns which of these packages are not installed, with the command that installs them. Undefined if all are there. */
export function packagesMissing(
  names: readonly string[],
  isThere: (name: string) => boolean = isInstalled,
): string | undefined {
  const missing = names.filter((name) => !isThere(name));
  if (missing.length === 0) return undefined;
  return `${missing.join(" and ")} ${missing.length === 1 ? "is" : "are"} not installed: npm install --save-dev ${missing.map(tested).join(" ")}`;
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Returns the package with the version that the lab is tested with. Clearway's own packages have the lab's version. */
function tested(name: string): string {
  const manifest = JSON.parse(readFileSync(path.join(packageRoot(), "package.json"), "utf8")) as {
    version: string;
    devDependencies: Record<string, string>;
  };
  return `${name}@${/^clearway/.test(name) ? manifest.version : manifest.devDependencies[name]}`;
}

// Finds the folder of this package from any of its built files.

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
