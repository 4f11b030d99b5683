// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs publint and "are the types wrong" on the tarballs that `npm publish` would upload.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { published } from "../../scripts/workspaces.mjs";
import { makeFolder, pack, removeFolder, root, runProgram } from "./clean-folder.js";

const tool = (path: string): string => join(root, "node_modules", path);
const packages = published() as { name: string }[];
const tarballs: Record<string, string> = {};
let folder: string;

beforeAll(async () => {
  folder = await makeFolder();
  for (const { name } of packages) tarballs[name] = await pack(name, folder);
});
afterAll(() => removeFolder(folder));

test.each(packages)("publint finds nothing wrong with $name", async ({ name }) => {
  const tarball = tarballs[name] ?? "";
  const said = await runProgram(folder, process.execPath, tool("publint/src/cli.js"), "run", tarball, "--strict");
  expect(said).toContain("All good!");
});

test.each(packages)("$name says which Node it needs, and has its licences and no install script", async ({ name }) => {
  const tarball = tarballs[name] ?? "";
  const list = await runProgram(folder, "tar", "-tzf", tarball);
  for (const each of ["README.md", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE"])
    expect(list).toContain(`package/${each}\n`);
  expect(list).not.toMatch(/\.node$|\/(test|src)\/.*\.ts$/m);
  const manifest = JSON.parse(await runProgram(folder, "tar", "-xzOf", tarball, "package/package.json"));
  expect(manifest.engines.node).toMatch(/20\.19\.0/);
  expect(Object.keys(manifest.scripts ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/install$/)]));
});

test("every entry of clearway has types that Node and bundlers resolve", async () => {
  const tarball = tarballs["clearway"] ?? "";
  const cli = tool("@arethetypeswrong/cli/dist/index.js");
  const { exports } = JSON.parse(await readFile(join(root, "ts/clearway/package.json"), "utf8")) as { exports: object };
  // If an entry has a problem, the program exits with an error status, and runProgram throws.
  const said = await runProgram(folder, process.execPath, cli, tarball, "--profile", "esm-only", "--no-color");
  for (const entry of Object.keys(exports)) expect(said).toContain(`"clearway${entry.slice(1)}"`);
});
