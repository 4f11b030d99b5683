// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds the lab once for all test files of a run, and runs the built command as a user does.
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { processStart } from "./processes.js";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const cache = path.join(packageFolder, ".cache");
const prefix = "test-dist-";

/** Names the process that started the test files. A later process with the same number has another start. */
const nameOf = (pid: number): string => `${prefix}${pid}-${processStart(pid)}`;

/**
 * Returns the folder with the built command and runners. Builds them if no test file of this run has done so. The folder is inside the package,
 * so that Node resolves its dependencies. It is not dist, so that a running lab keeps its files.
 */
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

export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The environment of a lab that measures the test's own scenario with the test's own runner. */
export const TESTED = { CLEARWAY_LAB_RUNNER: here("./fake-runner.mjs"), CLEARWAY_LAB_SCENARIOS: here("./scenarios") };

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Returns the program of the built command. */
export const builtCli = (): string => path.join(builtLab(), "cli.js");

/** Runs the built command. Resolves when it has ended, whatever its exit status. */
export function runCli(args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [builtCli(), ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : ((error as { code?: number }).code ?? -1), stdout, stderr });
    });
  });
}

export class BuiltCli {
  readonly program = builtCli();
  /** The folder in which the command runs. Its name has a space. */
  readonly scratch = mkdtempSync(path.join(tmpdir(), "clearway cli-"));

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
    return runCli(args, { cwd: this.scratch, env: { ...process.env, ...env } });
  }

  path(...names: string[]): string {
    return path.join(this.scratch, ...names);
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
