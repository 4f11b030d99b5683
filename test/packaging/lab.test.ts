// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder, pack, removeFolder, runProgram, unpack } from "./clean-folder.js";

describe("the packed lab", () => {
  let folder: string;
  let lab: string;
  beforeAll(async () => {
    folder = await makeFolder();
    await unpack(await pack("clearway", folder), "clearway", folder, []);
    lab = await unpack(await pack("clearway-lab", folder), "clearway-lab", folder, ["clearway"]);
  });
  afterAll(() => removeFolder(folder));

  const clearway = async (...args: string[]) => {
    const { bin } = JSON.parse(await readFile(join(lab, "package.json"), "utf8"));
    return runProgram(folder, process.execPath, join(lab, bin.clearway), ...args);
  };

  test("prints its commands with --help", async () => {
    const help = await clearway("--help");
    for (const command of ["lab", "report", "doctor"]) expect(help).toContain(command);
  });

  test("contains its scenarios and lists them", async () => {
    const list = await clearway("lab", "list");
    for (const scenario of ["students", "upload", "pool"]) expect(list).toContain(scenario);
  });

  test("contains the licences", async () => {
    for (const name of ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"]) {
      expect(await readFile(join(lab, name), "utf8")).toMatch(/MIT|Apache/);
    }
  });
});
