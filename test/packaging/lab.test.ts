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
    for (const command of ["lab", "report", "doctor"]) expect(help).toContain(command);
  });

  test.each(nodes)("contains its scenarios and lists them in %s", async (node) => {
    const list = await run(node, "lab", "--profile", "quick", "list");
    for (const scenario of ["students", "upload", "pool"]) expect(list).toContain(scenario);
  });

  test("writes a scenario that `bench` measures, and has types for it", async () => {
    expect(await clearway("init", "bench")).toContain("bench.ts and bench.tasks.ts written");
    const summary = await clearway("bench", "--rounds", "1", "--time", "5ms");
    expect(summary).toContain("2 questions, 12 comparisons");
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

  test("says how to install what it does not bring", async () => {
    const list = await clearway("lab", "--profile", "quick", "list", "remote", "--host", "node", "--json");
    for (const name of ["@nats-io/transport-node", "clearway-nats", "bullmq"])
      expect(list).toContain(`npm install ${name}`);
  });
});
