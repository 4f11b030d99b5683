// SPDX-License-Identifier: MIT OR Apache-2.0
// The tools of this folder's lock file, and apps that use the packed library with them.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { node24 } from "../../scripts/node24.mjs";
import { toolsFolder } from "../../scripts/runs-with.mjs";
import { makeFolder, root, runProgram } from "../packaging/clean-folder.js";

const execute = promisify(execFile);

/** Returns the node_modules of the tools. Throws if set-up did not install them. */
export function installedTools(): string {
  const packages = join(toolsFolder(), "node_modules");
  if (existsSync(packages)) return packages;
  throw new Error("the tools of test/runs-with are not installed; install them with: node scripts/runs-with.mjs");
}

/** Returns the programs of the other versions of Node that the tests run on. A version that is not installed is undefined. */
export function otherNodes(): { 22: string | undefined; 24: string | undefined } {
  const node22 = join(installedTools(), `node-${process.platform}-${process.arch}/bin/node`);
  return { 22: existsSync(node22) ? node22 : undefined, 24: node24() };
}

/** Returns the code of the README's fences of this language. */
export async function readmeFences(language: string): Promise<string[]> {
  const readme = await readFile(join(root, "README.md"), "utf8");
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, code]) => code ?? "");
}

const systems: Record<string, string> = {
  "linux x64": "linux-x64",
  "linux arm64": "linux-aarch64",
  "darwin arm64": "darwin-aarch64",
};
const system = systems[`${process.platform} ${process.arch}`] ?? "none";
const denoSystem = system.replace("aarch64", "arm64").replace(/^linux.*/, "$&-glibc");

/** The runtimes besides Node, with the arguments that run a file without network and compiler. `path` is below the tools' folder. */
export const runtimes = {
  Bun: { path: `@oven/bun-${system}/bin/bun`, args: ["run"] },
  Deno: {
    path: `@deno/${denoSystem}/deno`,
    args: ["run", "--allow-all", "--no-check", "--node-modules-dir=manual", "--cached-only"],
  },
};

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
