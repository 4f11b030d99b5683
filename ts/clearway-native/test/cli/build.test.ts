// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs `clearway-native build` as a user does, with a program in place of Cargo.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeEach, describe, expect, test } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const addon = here("../../dist/clearway.node");
const folders: string[] = [];
let folder: string;

/** Writes a program into the folder's `bin`. */
function program(name: string, ...lines: string[]): void {
  writeFileSync(join(folder, "bin", name), ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(join(folder, "bin", name), 0o755);
}

/** A Cargo that notes its arguments, and "builds" the file `built`. */
const cargo = (version: string, ...build: string[]): void =>
  program(
    "cargo",
    `if [ "$1" = --version ]; then echo "cargo ${version} (0123abc 2026-01-01)"; exit 0; fi`,
    `echo "$@" > "${folder}/arguments"`,
    'for each in "$@"; do target=$each; done', // the last argument
    ...build,
  );

const copies = 'mkdir -p "$target/release" && cp "$BUILT" "$target/release/libclearway_node.so"';

function command(args: string[], path = `${join(folder, "bin")}:/usr/bin:/bin`) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "dist/cli.js"), ...args], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: path, BUILT: join(folder, "built"), TMPDIR: join(folder, "tmp") },
  });
  return { status, stdout, stderr };
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "clearway-native-build-"));
  folders.push(folder);
  for (const name of ["bin", "tmp", "dist/addon"]) mkdirSync(join(folder, name), { recursive: true });
  await build({
    entryPoints: [here("../../src/cli/main.ts")],
    outfile: join(folder, "dist/cli.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["clearway/*"],
  });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", version: "1.0.0" }));
  writeFileSync(join(folder, "dist/addon/Cargo.toml"), "[workspace]\n");
  program("cc", "echo cc");
  program("c++", "echo c++");
});
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

describe.skipIf(process.platform !== "linux")("clearway-native build", () => {
  test("says what to install when Rust and the C compiler are missing", () => {
    const { status, stdout, stderr } = command(["build"], join(folder, "none"));
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/Rust is missing\. Install Rust 1\.88 or newer: https:\/\/rustup\.rs/);
    expect(stderr).toMatch(/a C compiler \(cc\).* is missing.*apt-get install build-essential/);
    expect(stderr).toMatch(/then run this command again: npx clearway-native build\n$/);
  });

  test("refuses a Rust that is too old", () => {
    cargo("1.87.0");
    const { status, stderr } = command(["build"]);
    expect(status).toBe(1);
    expect(stderr).toContain("cargo 1.87.0 (0123abc 2026-01-01) is too old. Install Rust 1.88 or newer: rustup update");
  });

  test.skipIf(!existsSync(addon))("builds in a temporary folder, and writes the addon into the package", () => {
    copyFileSync(addon, join(folder, "built"));
    cargo("1.88.0", copies);
    const { status, stdout, stderr } = command(["build"]);
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: `${join(folder, "dist/clearway.node")}\n`,
      stderr: "",
    });
    const [, manifest = "", target] = /--manifest-path (\S+) --target-dir (\S+)\n$/.exec(
      readFileSync(join(folder, "arguments"), "utf8"),
    ) ?? ["", "", ""];
    expect(manifest.startsWith(join(folder, "tmp"))).toBe(true);
    expect([existsSync(manifest), existsSync(target)]).toEqual([false, false]);
  });

  test.skipIf(!existsSync(addon))("writes the addon to another file with --out", () => {
    copyFileSync(addon, join(folder, "built"));
    cargo("1.100.0", copies);
    expect(command(["build", "--out", "deep/own.node"])).toMatchObject({
      status: 0,
      stdout: `${join(folder, "deep/own.node")}\n`,
    });
    expect(existsSync(join(folder, "dist/clearway.node"))).toBe(false);
  });

  test("fails with the loader's message when the built addon does not load", () => {
    writeFileSync(join(folder, "built"), "no library");
    cargo("1.88.0", copies);
    const { status, stderr } = command(["build"]);
    expect(status).toBe(1);
    expect(stderr).toContain(
      `the addon was built, but does not load in this Node: ${join(folder, "dist/clearway.node")}`,
    );
  });

  test("fails when Cargo fails, and leaves no temporary folder", () => {
    cargo("1.88.0", "echo 'error: no such crate' >&2", "exit 101");
    const { status, stderr } = command(["build"]);
    expect(status).toBe(1);
    expect(stderr).toBe("error: no such crate\nclearway-native: Cargo failed; its message is above\n");
    expect(spawnSync("ls", [join(folder, "tmp")], { encoding: "utf8" }).stdout).toBe("");
  });

  test("says how to choose another file when the package cannot be written", () => {
    writeFileSync(join(folder, "built"), "x");
    cargo("1.88.0", copies);
    const { status, stderr } = command(["build", "--out", "package.json/addon.node"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: cannot write .*: E.* Name another file with --out, and set CLEARWAY_NATIVE_ADDON/);
  });

  test.each([
    [["build", "now"], "also given: now"],
    [["build", "--check"], "also given: --check"],
    [["gen", "x.json", "--out", "y"], "gen has no option --out"],
  ])("refuses the arguments %j with one line and status 2", (args, message) => {
    const { status, stdout, stderr } = command(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^error: .*\n$/);
    expect(stderr).toContain(message);
  });
});
