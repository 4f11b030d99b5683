// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs `clearway init plugin` as a user does, and checks what it writes and refuses. test/templates builds and runs what it writes.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { UserFolder } from "./user-folder.js";

const user = new UserFolder();

/** Programs that stand in for the tools of a machine. */
function tools(folder: string, programs: Record<string, string>): void {
  mkdirSync(user.at(folder));
  for (const [name, said] of Object.entries(programs)) {
    writeFileSync(user.at(`${folder}/${name}`), `#!/bin/sh\necho "${said}"\n`);
    chmodSync(user.at(`${folder}/${name}`), 0o755);
  }
}

/** Runs `init plugin` with a PATH that has only one folder of such programs. */
const init = (folder: string, ...args: string[]) => {
  Object.assign(user.environment, { PATH: user.at(folder) });
  return user.run("init", "plugin", ...args);
};

const files = (folder: string) => readdirSync(user.at(folder), { recursive: true }).map(String).sort();

describe("clearway init plugin", () => {
  beforeAll(() => {
    tools("all", { cargo: "cargo 1.85.0 (2025)", cc: "cc 12", make: "make 4" });
    tools("old", { cargo: "cargo 1.84.1 (2025)" });
    tools("no make", { cc: "cc 12" });
    tools("none", {});
    mkdirSync(user.at("full"));
    writeFileSync(user.at("full/mine.txt"), "mine");
    writeFileSync(user.at("a-file"), "mine");
    mkdirSync(user.at("empty"));
  });

  test("writes a project in C into an empty folder, with the header for authors", async () => {
    const { code, stdout, stderr } = await init("all", "--language", "c", "--dir", "empty");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch("Build it: cd empty && make");
    const written = [
      ".gitignore",
      "Makefile",
      "README.md",
      "Run.java",
      "include",
      "include/clearway.h",
      "package.json",
    ];
    const swift = ["swift-runner", "swift-runner/Package.swift", "swift-runner/Run.swift"];
    expect(files("empty")).toEqual([...written, "plugin.c", "pom.xml", "run.mjs", ...swift]);
    expect(readFileSync(user.at("empty/plugin.c"), "utf8")).not.toMatch(/SPDX|my_plugin\.c/);
  });

  test("writes a project in Rust under the name of its folder, with the crate's sources and sorted versions", async () => {
    expect(await init("all", "--language", "rust", "--dir", "sub/A Sound")).toMatchObject({ code: 0, stderr: "" });
    const read = (file: string) => readFileSync(user.at(`sub/A Sound/${file}`), "utf8");
    for (const file of [
      ...["Cargo.toml", "Cargo.lock", "src/lib.rs", "run.mjs", "Run.java", "README.md", "package.json"],
      ...["pom.xml", "swift-runner/Package.swift", "swift-runner/Run.swift"],
    ])
      expect(read(file), file).not.toMatch(/my.plugin|MyPlugin|SPDX/);
    expect(read("Cargo.toml")).toMatch('name = "a-sound-plugin"');
    expect(read("src/lib.rs")).toMatch("impl ASoundPlugin {");
    const names = [...read("Cargo.lock").matchAll(/^name = "(.+)"$/gm)].map(([, name]) => name);
    expect(names).toEqual([...names].sort());
    expect(names[0]).toBe("a-sound-plugin");
    expect(existsSync(user.at("sub/A Sound/clearway/crates/plugin/src/lib.rs"))).toBe(true);
    expect(read("clearway/Cargo.toml")).not.toMatch(/clearway-core|profile/);
  });

  test("keeps a link that leads nowhere, and names no plugin like the crate that it depends on", async () => {
    symlinkSync(user.at("nowhere"), user.at("a-link"));
    const { code, stderr } = await init("all", "--language", "c", "--dir", "a-link");
    expect([code, stderr]).toEqual([2, expect.stringMatching("--dir a-link: it cannot be written")]);
    expect(lstatSync(user.at("a-link")).isSymbolicLink()).toBe(true);
    expect(existsSync(user.at("nowhere"))).toBe(false);
    await init("all", "--language", "rust", "--dir", "clearway");
    expect(readFileSync(user.at("clearway/Cargo.toml"), "utf8")).toMatch('name = "my-clearway-plugin"');
  });

  test("pins in Rust the versions that the repository builds with", () => {
    const versions = (file: string) => {
      const lock = readFileSync(path.join(import.meta.dirname, file), "utf8");
      return new Map([...lock.matchAll(/^name = "(.+)"\nversion = "(.+)"$/gm)].map(([, name, at]) => [name, at]));
    };
    const all = versions("../../../native/Cargo.lock");
    const own = versions("../templates/plugin-rust/Cargo.lock");
    own.delete("my-plugin");
    expect(own.size).toBeGreaterThan(8);
    for (const [name, at] of own) expect(`${name} ${all.get(name)}`).toBe(`${name} ${at}`);
  });

  test.each([
    ["all", [], "name the plugin's language: --language rust or --language c"],
    ["all", ["--language", "rusty"], '--language rusty: unknown language; languages: rust, c. Did you mean "rust"?'],
    ["all", ["--language", "constructor"], "--language constructor: unknown language; languages: rust, c."],
    ["all", ["--language", "c", "--dir", "full"], "--dir full: the folder is not empty (it has mine.txt)"],
    ["all", ["--language", "c", "--dir", "a-file"], "--dir a-file: it is no folder that can be read"],
    ["all", ["--language", "c", "--dir", "a-file/below"], "--dir a-file/below: it"],
    ["all", ["--language", "c", "--dir", "3d"], "--dir 3d: the folder names the plugin"],
    [
      "all",
      ["sound", "--language", "c"],
      "init plugin writes a folder: clearway init plugin --language rust --dir sound",
    ],
    [
      "none",
      ["--language", "rust"],
      "cargo cannot be started, and the plugin could not be built. To go on: install Rust",
    ],
    ["old", ["--language", "rust"], "cargo is version 1.84.1, which is too old. To go on: install Rust 1.85"],
    ["none", ["--language", "c"], "cc cannot be started, and the plugin could not be built. To go on: install a C"],
    ["no make", ["--language", "c"], "make cannot be started"],
  ])("refuses with the tools %j the arguments %j, and writes nothing", async (folder, args, message) => {
    const before = files(".");
    const { code, stderr } = await init(folder, ...args);
    expect(stderr).toMatch(`error: ${message}`);
    expect(code).toBe(stderr.includes("To go on") ? 1 : 2);
    expect(files(".")).toEqual(before);
  });

  test("init bench refuses the options of init plugin", async () => {
    const { code, stderr } = await user.run("init", "bench", "--language", "c");
    expect([code, stderr]).toEqual([2, "error: --language is for init plugin: leave it out of init bench\n"]);
  });
});
