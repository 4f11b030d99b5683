// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes a native plugin with `clearway init plugin`, builds it, and runs its programs in Node, on the JVM and in Swift. test/maven runs the one
// for the JVM with Maven, as the README.md says.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { libclearway } from "../../scripts/native.mjs";
import { toolchain } from "../../scripts/swift.mjs";
import { root, runProgram } from "../packaging/clean-folder.js";
import { java } from "../plugin-hosts/java.js";

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;
const extension = process.platform === "darwin" ? "dylib" : "so";
const addon = existsSync(join(root, "ts/clearway-native/dist/clearway.node"));

const said = ["tick 1", "tick 2", "tick 3"];
const inNode = ["HELLO", "{ words: 2, letters: 10 }", ...said, "invalid-argument count: text must not be empty"];
const onTheJvm = ["HELLO", "{words=2, letters=10}", ...said, "INVALID_ARGUMENT count: text must not be empty"];
const inSwift = ["HELLO", "words: 2, letters: 10", ...said, "invalid-argument count: text must not be empty"];
const swift = toolchain()?.swift;

// The crates from a registry are built as for the other plugins, so that Cargo finds most of them in the folder that all plugins share.
const cargoAs = {
  CARGO_TARGET_DIR: process.env["CARGO_TARGET_DIR"] ?? join(root, "native/target"),
  CARGO_PROFILE_RELEASE_LTO: "thin",
  CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "4",
  CARGO_PROFILE_RELEASE_DEBUG: "line-tables-only",
};

const languages = [
  {
    language: "rust",
    isHere: has("cargo"),
    build: ["cargo", "build", "--release", "--locked", "--quiet"],
    library: () => join(cargoAs.CARGO_TARGET_DIR, `release/libmade_plugin.${extension}`),
  },
  {
    language: "c",
    isHere: has("cc") && has("make"),
    build: ["make"],
    library: (folder: string) => join(folder, `build/libmade_plugin.${extension}`),
  },
];

/** The folder of Swift's build, which both languages share. */
let scratch = "";
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "clearway-template-swift-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

describe.each(languages)("the template for a plugin in $language", ({ language, isHere, build, library }) => {
  let folder = "";
  beforeAll(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "clearway-template-")), "made");
    if (!isHere) return;
    const cli = join(root, "ts/clearway-lab/dist/cli.js");
    await runProgram(root, process.execPath, cli, "init", "plugin", "--language", language, "--dir", folder);
    Object.assign(process.env, language === "rust" ? cargoAs : {});
    const [program, ...args] = build;
    await runProgram(folder, program as string, ...args);
  }, 600_000); // compiles 10 crates, beside whatever else runs on the machine
  afterAll(() => rm(join(folder, ".."), { recursive: true, force: true }));

  test.skipIf(!isHere || !addon)("its program for Node uses every channel", async () => {
    // What `npm install CLONE/ts/clearway CLONE/ts/clearway-native` makes.
    await mkdir(join(folder, "node_modules"));
    for (const name of ["clearway", "clearway-native"])
      await symlink(join(root, "ts", name), join(folder, "node_modules", name));
    const output = await runProgram(folder, process.execPath, "run.mjs", library(folder));
    expect(output.trim().split("\n")).toEqual(inNode);
  });

  test.skipIf(!isHere)("its program for the JVM uses every channel", async ({ skip }) => {
    const [program, ...args] = java() ?? skip("no JDK 22, no compiled module or no libclearway");
    const output = await runProgram(folder, program as string, ...args, "Run.java", library(folder));
    expect(output.trim().split("\n")).toEqual(onTheJvm);
  });

  test.skipIf(!isHere || swift === undefined)(
    "its program in Swift uses every channel",
    async ({ skip }) => {
      if (!existsSync(libclearway)) skip("no libclearway");
      const output = await runProgram(
        folder,
        "env",
        ...[`CLEARWAY_SWIFT=${join(root, "swift")}`, `CLEARWAY_LIBRARY=${libclearway}`],
        ...[
          swift ?? "",
          "run",
          "--disable-sandbox",
          "--quiet",
          "--package-path",
          "swift-runner",
          "--scratch-path",
          scratch,
        ],
        ...["run", library(folder)],
      );
      expect(output.trim().split("\n")).toEqual(inSwift);
    },
    900_000, // compiles two libraries
  );
});

test.skipIf(!has("cc"))("the template for a plugin in c builds with the README's command without make", async () => {
  const folder = await mkdtemp(join(tmpdir(), "clearway-template-"));
  try {
    const template = join(root, "ts/clearway-lab/templates/plugin-c");
    await cp(join(template, "plugin.c"), join(folder, "plugin.c"));
    await cp(join(root, "native/include/clearway.h"), join(folder, "include/clearway.h"));
    const [, command] = /Without make:\s+`([^`]+)`/.exec(await readFile(join(template, "README.md"), "utf8")) ?? [];
    await runProgram(folder, "sh", "-c", command ?? "");
    expect(existsSync(join(folder, "build/libmy_plugin.so"))).toBe(true);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
