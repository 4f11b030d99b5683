// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync } from "node:fs";
import { lstat, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { otherNodes } from "../runs-with/tools.js";
import { makeFolder, pack, removeFolder, root, runProgram, unpack } from "./clean-folder.js";

const nodes = [process.execPath, ...Object.values(otherNodes())].filter((each) => each !== undefined);

describe("the packed lab", () => {
  let folder: string;
  let lab: string;
  beforeAll(async () => {
    folder = await makeFolder();
    await unpack(await pack("clearway", folder), "clearway", folder, []);
    lab = await unpack(await pack("clearway-lab", folder), "clearway-lab", folder, ["clearway"]);
  });
  afterAll(() => removeFolder(folder));

  const run = async (node: string, ...args: string[]) => {
    const { bin } = JSON.parse(await readFile(join(lab, "package.json"), "utf8"));
    return runProgram(folder, node, join(lab, bin["clearway-lab"]), ...args);
  };
  const clearway = (...args: string[]) => run(process.execPath, ...args);

  test("installs less than 15 MB, with the library", async () => {
    const folders = await installed([join(folder, "node_modules/clearway"), lab]);
    const sizes = await Promise.all([...folders].map(diskUsage));
    expect(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toBeLessThan(15);
  });

  test("prints its commands with --help", async () => {
    const help = await clearway("--help");
    for (const command of ["lab", "report", "hosts"]) expect(help).toContain(command);
  });

  test.each(nodes)("lists its questions in %s", async (node) => {
    const list = await run(node, "lab", "list");
    for (const question of ["records-node", "call", "codec"]) expect(list).toContain(question);
  });

  // The commands without these packages: ts/clearway-lab/test/packages.test.ts.
  const add = (name: string) => symlink(join(root, "node_modules", name), join(folder, "node_modules", name));

  test("writes a scenario that `bench` measures, and has types for it", async () => {
    await add("esbuild");
    expect(await clearway("init", "bench")).toContain("bench.ts and bench.tasks.ts written");
    const summary = await clearway("bench", "--time", "1");
    expect(summary).toContain("Should counting primes leave the main thread?");
    const config = {
      compilerOptions: { module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: [] },
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ ...config, files: ["bench.ts"] }));
    await runProgram(folder, process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder);
  });

  test("measures a function of a file", async () => {
    await writeFile(join(folder, "twice.ts"), "export const twice = (value: number): number => 2 * value;\n");
    expect(await clearway("measure", "twice.ts#twice", "--args", "4", "--time", "5")).toMatch(
      /\n- (No frame|A direct call) /,
    );
  });

  test("finds what makes a page and a script in TypeScript stall", async () => {
    await add("playwright-core");
    const busy = "const end = performance.now() + 100; while (performance.now() < end);";
    await writeFile(join(folder, "busy.html"), `<!doctype html><title>Busy</title><script>${busy}</script>`);
    await writeFile(join(folder, "busy.ts"), `const name: string = "busy";\n${busy}\nconsole.log(name);\n`);
    for (const name of ["busy.html", "busy.ts"]) expect(await clearway("jank", name)).toMatch(/ \(busy\./);
  });
});

/** Returns the folders of packages and of everything that npm installs for them. */
async function installed(packages: readonly string[], found = new Set<string>()): Promise<Set<string>> {
  for (const each of packages) {
    if (found.has(each)) continue;
    found.add(each);
    const { dependencies = {} } = JSON.parse(await readFile(join(each, "package.json"), "utf8"));
    const paths = Object.keys(dependencies).map((name) => {
      const places = createRequire(join(each, "package.json")).resolve.paths(name) ?? [];
      return places.map((place) => join(place, name)).find((place) => existsSync(place));
    });
    await installed(await Promise.all(paths.map((path) => realpath(path as string))), found);
  }
  return found;
}

/** Returns the space that a package takes on a disk, in bytes, without packages in its own node_modules. */
async function diskUsage(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const sizes = names
    .filter((name) => !name.split("/").includes("node_modules"))
    .map(async (name) => 512 * (await lstat(join(folder, name))).blocks);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
