// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds the lab once for all test files of a run. The folder is inside the package, so that Node resolves its dependencies. It is not dist, so
// that a running lab keeps its files.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { processStart } from "./processes.js";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const cache = path.join(packageFolder, ".cache");
const prefix = "test-dist-";

/** Names the process that started the test files. A later process with the same number has another start. */
const nameOf = (pid: number): string => `${prefix}${pid}-${processStart(pid)}`;

/** Returns the folder with the built command and runners. Builds them if no test file of this run has done so. */
export function builtLab(): string {
  const folder = path.join(cache, nameOf(process.ppid));
  // Where the system does not say when a process started, an old folder may have the name. Each test file then builds its own.
  const shared = processStart(process.ppid) !== null;
  if (shared && existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  if (shared) removeOld();
  const own = `${folder}-${process.pid}`;
  execFileSync(process.execPath, [path.join(packageFolder, "build.mjs"), "--out", path.relative(packageFolder, own)]);
  if (!shared) return own;
  try {
    renameSync(own, folder);
  } catch (error) {
    // Another test file has built it meanwhile.
    if (!existsSync(folder)) throw error;
    rmSync(own, { recursive: true });
  }
  return folder;
}

/** Removes the folders of runs that have ended. */
function removeOld(): void {
  for (const name of readdirSync(cache)) {
    const pid = Number(name.startsWith(prefix) ? name.slice(prefix.length).split("-")[0] : Number.NaN);
    if (Number.isInteger(pid) && !name.startsWith(nameOf(pid))) rmSync(path.join(cache, name), { recursive: true });
  }
}
