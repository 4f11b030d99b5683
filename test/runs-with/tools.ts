// SPDX-License-Identifier: MIT OR Apache-2.0
// The tools of this folder's lock file, and apps that use the packed library with them.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { makeFolder, root, runProgram } from "../packaging/clean-folder.js";

const execute = promisify(execFile);

const here = fileURLToPath(new URL(".", import.meta.url));

/**
 * Installs the tools into the repository's cache, unless this lock file's tools are there. Returns their node_modules. Runs no install
 * scripts.
 */
export async function installTools(): Promise<string> {
  const lock = await readFile(join(here, "package-lock.json"));
  const folder = join(root, ".cache", `runs-with-${createHash("sha256").update(lock).digest("hex").slice(0, 12)}`);
  const packages = join(folder, "node_modules");
  if (existsSync(packages)) return packages;
  const fresh = `${folder}.${process.pid}`;
  await mkdir(fresh, { recursive: true });
  for (const name of ["package.json", "package-lock.json"]) await copyFile(join(here, name), join(fresh, name));
  await runProgram(
    fresh,
    "npm",
    "install",
    "--no-save",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
  );
  // Another process may have installed them in the meantime.
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
  return packages;
}

export interface App {
  readonly folder: string;
  path(name: string): string;
  /** Runs a program in the app's folder. Returns its stdout. If it fails, throws an Error with all of its output. */
  run(program: string, ...args: string[]): Promise<string>;
  /** The same for stdout and stderr. */
  outputOf(program: string, ...args: string[]): Promise<string>;
}

/** Creates an app in a temporary folder, with the unpacked library. `packages` are linked by their names. The caller removes the folder. */
export async function makeApp(
  library: string,
  files: Record<string, string>,
  packages: Record<string, string> = {},
): Promise<App> {
  const folder = await makeFolder();
  await mkdir(join(folder, "node_modules/clearway"), { recursive: true });
  await runProgram(folder, "tar", "-xzf", library, "--strip-components=1", "-C", join(folder, "node_modules/clearway"));
  for (const [name, path] of Object.entries(packages)) await symlink(path, join(folder, "node_modules", name));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const start = (program: string, args: string[]) => {
    // An app does not see that this is a test.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(VITEST|JEST)/.test(name)));
    const options = { cwd: folder, env: { ...env, NODE_ENV: "development" } };
    return execute(program, args, options).catch(({ message, stdout, stderr }) => {
      throw new Error(`${message}\n${stdout}${stderr}`);
    });
  };
  return {
    folder,
    path: (name) => join(folder, name),
    run: async (program, ...args) => (await start(program, args)).stdout,
    outputOf: async (program, ...args) => Object.values(await start(program, args)).join(""),
  };
}
