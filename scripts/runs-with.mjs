// SPDX-License-Identifier: MIT OR Apache-2.0
// Installs the tools that test/runs-with runs the packed library with, into .cache. Set-up calls it; it is quick if they are there.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = join(root, "test/runs-with");

/** Returns the folder for the tools of this lock file. It may not exist yet. */
export function toolsFolder() {
  const lock = readFileSync(join(source, "package-lock.json"));
  return join(root, ".cache", `runs-with-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`);
}

/** Installs the tools, unless they are there. Runs no install scripts. Returns whether they are there now. */
export function installTools() {
  const folder = toolsFolder();
  if (existsSync(folder)) return true;
  console.error("set-up: installing the tools that test/runs-with/package-lock.json names");
  // The folder gets its name when it is complete.
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(source, name), join(fresh, name));
    const args = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
    if (spawnSync("npm", args, { cwd: fresh, stdio: ["ignore", "ignore", "inherit"] }).status !== 0) return false;
    if (!existsSync(folder)) renameSync(fresh, folder);
    return true;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !installTools()) {
  console.error(
    "set-up: the tools could not be installed. See npm's message above. The tests in test/runs-with will say so, too.",
  );
  process.exitCode = 1;
}
