// SPDX-License-Identifier: MIT OR Apache-2.0
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFolder, pack, removeFolder, root, runProgram, unpack } from "./clean-folder.js";

describe("the packed clearway-native", () => {
  let folder: string;
  let native: string;
  beforeAll(async () => {
    folder = await makeFolder();
    await unpack(await pack("clearway", folder), "clearway", folder, []);
    native = await unpack(await pack("clearway-native", folder), "clearway-native", folder, ["clearway"]);
  });
  afterAll(() => removeFolder(folder));

  test("generates code for a plugin with the command that npx finds", async () => {
    const { bin } = JSON.parse(await readFile(join(native, "package.json"), "utf8"));
    const schema = join(root, "ts/clearway-native/test/gen/thermometer.json");
    const header = await runProgram(
      folder,
      process.execPath,
      join(native, bin["clearway-native"]),
      "gen",
      schema,
      "--c",
      "-",
    );
    expect(header).toContain("Made by `clearway-native gen`");
  });
});
