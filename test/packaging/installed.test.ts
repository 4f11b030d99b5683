// SPDX-License-Identifier: MIT OR Apache-2.0
// Installs the tarballs of a release with npm in clean folders, and uses them as a new user does: the README's quick start in every runtime,
// and a native plugin with the prebuilt addon. The programs run without a PATH, so that they find no compiler.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plugins } from "../../scripts/native.mjs";
import { built, packAll } from "../../scripts/release/npm.mjs";
import { current } from "../../scripts/release/version.mjs";
import { published } from "../../scripts/workspaces.mjs";
import { installedTools, otherNodes, readmeFences, runtimes } from "../runs-with/tools.js";
import { install, makeFolder, removeFolder, root, runProgram } from "./clean-folder.js";

const version = current();
const names = (published() as { name: string }[]).map(({ name }) => name);
const [prebuilt] = built() as { target: { name: string } }[];
const addonPackage = `clearway-native-${prebuilt?.target.name}`;
const others = otherNodes();
const nodes: [string, string[]][] = Object.entries({ own: process.execPath, ...others })
  .filter(([, program]) => program !== undefined)
  .map(([name, program]) => [`Node ${name === "own" ? process.versions.node : name}`, [program ?? ""]]);

let folder: string;
let tarballs: string[];
const tarball = (name: string): string => join(folder, "tarballs", `${name}-${version}.tgz`);

/** Runs a program in a folder without a PATH. */
async function runAlone(cwd: string, program: string, ...args: string[]): Promise<string> {
  const env = { PATH: join(folder, "no-programs"), HOME: folder, CLEARWAY_NATIVE_ADDON: "" };
  return (await promisify(execFile)(program, args, { cwd, env })).stdout;
}

async function consumer(name: string, ...packages: string[]): Promise<string> {
  const made = join(folder, name);
  await mkdir(made);
  await writeFile(join(made, "package.json"), JSON.stringify({ name, private: true, type: "module" }));
  await install(packages.map(tarball), made, "--ignore-scripts");
  return made;
}

const usePlugin = [
  'import { loadPlugin } from "clearway-native";',
  'import { standardMethodCodec } from "clearway/channel";',
  "const plugin = await loadPlugin(process.argv[2]).catch((error) => console.log(error.code, error.message));",
  "if (plugin) {",
  '  const message = standardMethodCodec.call.encode({ method: "echo", args: "hello" });',
  '  const { bytes } = plugin.channel("echo/method").call(message);',
  "  console.log(standardMethodCodec.reply.decode(bytes).value);",
  "  await plugin.close();",
  "}",
].join("\n");

beforeAll(async () => {
  folder = await makeFolder();
  tarballs = packAll(join(folder, "tarballs"), version, built);
});
afterAll(() => removeFolder(folder));

test("a release has a tarball of every public package, and the same files give the same bytes", () => {
  const expected = [...(prebuilt ? [addonPackage] : []), ...names].map((name) => `${name}-${version}.tgz`);
  expect(tarballs.map((path) => basename(path)).sort()).toEqual(expected.sort());
  const sums = (paths: string[]) =>
    Object.fromEntries(
      paths.map((path) => [basename(path), createHash("sha256").update(readFileSync(path)).digest("hex")]),
    );
  expect(sums(packAll(join(folder, "again"), version, built))).toEqual(sums(tarballs));
});

describe("the README's quick start", () => {
  let app: string;
  beforeAll(async () => {
    app = await consumer("quick-start", "clearway");
    const [tasks = "", first = ""] = await readmeFences("ts");
    await writeFile(join(app, "primes.tasks.ts"), tasks);
    await writeFile(join(app, "first.ts"), first);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    await runProgram(app, process.execPath, tsc, "--init");
    await runProgram(app, process.execPath, tsc);
  });

  const programs: [string, string[]][] = [
    ...nodes,
    ...Object.entries(runtimes).map(([name, { path, args }]): [string, string[]] => [
      name,
      [join(installedTools(), path), ...args],
    ]),
  ];
  test.each(programs)("runs in %s after one npm install, without a compiler", async (_, [program = "", ...args]) => {
    const output = await runAlone(app, program, ...args, "first.js");
    expect(output).toMatch(/^78498 primes; ms stalled: [\d.]+ before, [\d.]+ after\n$/);
  });
});

describe.skipIf(!prebuilt)("the installed clearway-native", () => {
  test("has no addon of its own, and names the packages that do with its own version", async () => {
    const app = await consumer("manifest", "clearway", "clearway-native", addonPackage);
    const own = join(app, "node_modules/clearway-native");
    expect((await readdir(join(own, "dist"))).filter((name) => name.endsWith(".node"))).toEqual([]);
    expect(JSON.parse(readFileSync(join(own, "package.json"), "utf8"))).toMatchObject({
      version,
      optionalDependencies: { [addonPackage]: version },
    });
    const platform = join(app, "node_modules", addonPackage);
    const files = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "THIRD-PARTY-LICENSES.txt"];
    expect((await readdir(platform)).sort()).toEqual([...files, "clearway.node", "package.json"]);
    expect(JSON.parse(readFileSync(join(platform, "package.json"), "utf8"))).toMatchObject({
      version,
      os: [process.platform],
      cpu: [process.arch],
    });
  });

  describe.skipIf(!existsSync(plugins.c.example))("with a plugin", () => {
    let app: string;
    beforeAll(async () => {
      app = await consumer("plugin", "clearway", "clearway-native", addonPackage);
      await writeFile(join(app, "plugin.js"), usePlugin);
    });

    test.each(nodes)("loads it with the prebuilt addon in %s", async (_, [program = ""]) => {
      expect(await runAlone(app, program, "plugin.js", plugins.c.example)).toBe("hello\n");
    });
  });

  test("installs without its prebuilt addon, and then names the package to install and what a build needs", async () => {
    const app = await consumer("without-addon", "clearway", "clearway-native");
    expect(existsSync(join(app, "node_modules", addonPackage))).toBe(false);
    await writeFile(join(app, "plugin.js"), usePlugin);
    const said = await runAlone(app, process.execPath, "plugin.js", plugins.c.example);
    expect(said).toContain(`addon-missing clearway-native: the package ${addonPackage} is not installed.`);
    expect(said).toContain(`npm install ${addonPackage}@${version}`);
    expect(said).toMatch(
      /Rust 1\.88 or newer \(https:\/\/rustup\.rs\) and a C\+\+ compiler.*npx clearway-native build/,
    );
  });

  test("says what to install when it is built from source without Rust", async () => {
    const app = await consumer("no-rust", "clearway", "clearway-native");
    const cli = join(app, "node_modules/clearway-native/dist/cli.js");
    await expect(runAlone(app, process.execPath, cli, "build")).rejects.toThrow(
      /Rust is missing\. Install Rust 1\.88 or newer: https:\/\/rustup\.rs/,
    );
  });
});
