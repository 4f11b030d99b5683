// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs publint and "are the types wrong" on the tarballs that `npm publish` would upload.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeFolder, pack, removeFolder, root, runProgram } from "./clean-folder.js";

const tool = (path: string): string => join(root, "node_modules", path);
let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
});
afterAll(() => removeFolder(folder));

test.each(["clearway", "clearway-build", "clearway-native", "clearway-nats", "clearway-lab"])(
  "publint finds nothing wrong with %s",
  async (name) => {
    const tarball = await pack(name, folder);
    const said = await runProgram(folder, process.execPath, tool("publint/src/cli.js"), "run", tarball, "--strict");
    expect(said).toContain("All good!");
  },
);

test("every entry of clearway has types that Node and bundlers resolve", async () => {
  const tarball = await pack("clearway", folder);
  const cli = tool("@arethetypeswrong/cli/dist/index.js");
  const { exports } = JSON.parse(await readFile(join(root, "ts/clearway/package.json"), "utf8")) as { exports: object };
  // If an entry has a problem, the program exits with an error status, and runProgram throws.
  const said = await runProgram(folder, process.execPath, cli, tarball, "--profile", "esm-only", "--no-color");
  for (const entry of Object.keys(exports)) expect(said).toContain(`"clearway${entry.slice(1)}"`);
});
