// SPDX-License-Identifier: MIT OR Apache-2.0
// The tools of this folder's lock file, and apps that use the packed library with them.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { toolsFolder } from "../../scripts/runs-with.mjs";
import { makeFolder, runProgram } from "../packaging/clean-folder.js";

const execute = promisify(execFile);

/** Returns the node_modules of the tools. Throws if set-up did not install them. */
export function installedTools(): string {
  const packages = join(toolsFolder(), "node_modules");
  if (existsSync(packages)) return packages;
  throw new Error("the tools of test/runs-with are not installed; install them with: node scripts/runs-with.mjs");
}

export interface App {
  readonly folder: string;
  path(name: string): string;
  /** Runs a program in the app's folder. Returns its stdout. If it fails, throws an Error with all of its output. */
  run(program: string, ...args: string[]): Promise<string>;
  /** The same for stdout and stderr. */
  outputOf(program: string, ...args: string[]): Promise<string>;
}

/**
 * Creates an app with the unpacked library in `folder`, or else in a temporary folder. `packages` are linked by their names. The caller
 * removes the folder.
 */
export async function makeApp(
  library: string,
  files: Record<string, string>,
  packages: Record<string, string> = {},
  folder?: string,
): Promise<App> {
  folder ??= await makeFolder();
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
    const options = { cwd: folder, env: { ...env, NODE_ENV: "development", NEXT_TELEMETRY_DISABLED: "1" } };
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
