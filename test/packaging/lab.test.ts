// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFile, writeFile } from "node:fs/promises";
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
    return runProgram(folder, node, join(lab, bin.clearway), ...args);
  };
  const clearway = (...args: string[]) => run(process.execPath, ...args);

  test("prints its commands with --help", async () => {
    const help = await clearway("--help");
    for (const command of ["lab", "report", "hosts"]) expect(help).toContain(command);
  });

  test.each(nodes)("lists its questions in %s", async (node) => {
    const list = await run(node, "lab", "list");
    for (const question of ["records-node", "call", "codec"]) expect(list).toContain(question);
  });

  test("writes a scenario that `bench` measures, and has types for it", async () => {
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
    expect(await clearway("measure", "twice.ts#twice", "--args", "4")).toContain("Verdict: leave it: ");
  });
});
