// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs a package as `npm publish` does, and installs it in an empty folder outside the repository.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

/** Runs a program to its end. Returns its stdout. If it fails, throws an Error with all of its output. */
export async function runProgram(cwd: string, program: string, ...args: string[]): Promise<string> {
  try {
    return (await execute(program, args, { cwd, maxBuffer: 1 << 26 })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed\n${stdout ?? ""}${stderr ?? ""}`, { cause: error });
  }
}

/** Creates an empty project in a temporary folder. The caller removes the folder. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "clearway-packaging-"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  return folder;
}

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** Packs `ts/NAME` into `folder`. Returns the path of the tarball. */
export async function pack(name: string, folder: string): Promise<string> {
  const args = ["pack", join(root, "ts", name), "--json", "--silent", "--ignore-scripts", "--pack-destination", folder];
  const [packed] = JSON.parse(await runProgram(folder, "npm", ...args)) as { filename: string }[];
  if (!packed) throw new Error(`npm packed nothing: ${name}`);
  return join(folder, packed.filename);
}

/** Installs tarballs that depend only on one another. Needs no network. */
export async function install(tarballs: readonly string[], folder: string, ...args: string[]): Promise<void> {
  const quiet = ["--offline", "--no-audit", "--no-fund", "--no-package-lock"];
  await runProgram(folder, "npm", "install", ...tarballs, ...quiet, ...args);
}

/**
 * Unpacks a tarball and links the dependencies in its package.json, and no others. The packages come from this repository's node_modules,
 * so that no network is needed. `own` names packages that were unpacked here before; they are not linked.
 */
export async function unpack(tarball: string, name: string, folder: string, own: string[]): Promise<string> {
  const target = join(folder, "node_modules", name);
  await mkdir(target, { recursive: true });
  await runProgram(folder, "tar", "-xzf", tarball, "--strip-components=1", "-C", target);
  const { dependencies = {} } = JSON.parse(await readFile(join(target, "package.json"), "utf8"));
  for (const dependency of Object.keys(dependencies).filter((each) => !own.includes(each))) {
    const link = join(folder, "node_modules", dependency);
    await mkdir(dirname(link), { recursive: true });
    const nested = join(root, "ts", name, "node_modules", dependency);
    const hoisted = join(root, "node_modules", dependency);
    await symlink(
      await readFile(join(nested, "package.json")).then(
        () => nested,
        () => hoisted,
      ),
      link,
    );
  }
  return target;
}

/** Copies the app of these tests into a folder. */
export const copyApp = (folder: string): Promise<void> =>
  cp(fileURLToPath(new URL("./app", import.meta.url)), folder, { recursive: true });
