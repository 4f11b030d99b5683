// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { visible } from "../../../../scripts/terminal-text.mjs";
import { writeFiles } from "../../../../scripts/write-files.mjs";
import { textOf, UsageError } from "../error.js";

// `clearway-native build`: compiles the addon from the sources in this package, for a system without a prebuilt one.

/** The oldest Rust that compiles the addon: its minor version after 1. */
const rustMinor = 88;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Returns what a program prints with `--version`. Returns undefined if the program is missing or fails. */
function versionOf(program: string): string | undefined {
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/** Returns what this system needs before it can compile the addon, one sentence each. */
function missing(): string[] {
  const cargo = versionOf("cargo");
  const [, major = 0, minor = 0] = (/^cargo (\d+)\.(\d+)/.exec(cargo ?? "") ?? []).map(Number);
  const needs: string[] = [];
  if (cargo === undefined) needs.push(`Rust is missing. Install Rust 1.${rustMinor} or newer: https://rustup.rs`);
  else if (major === 1 && minor < rustMinor)
    needs.push(`${cargo} is too old. Install Rust 1.${rustMinor} or newer: rustup update, or https://rustup.rs`);
  if (process.platform !== "win32" && versionOf("cc") === undefined) {
    const how = process.platform === "darwin" ? "xcode-select --install" : "on Debian: apt-get install build-essential";
    needs.push(`a C compiler (cc), with which Rust links, is missing. Install it; ${how}`);
  }
  return needs;
}

/** The names of the files that Cargo writes for a library. Other systems have the name of Linux. */
const libraries: Readonly<Record<string, string>> = {
  darwin: "libclearway_node.dylib",
  linux: "libclearway_node.so",
  win32: "clearway_node.dll",
};

/** Copies a file to `to`. A process that has loaded the former file keeps it. */
function put(from: string, to: string): void {
  try {
    mkdirSync(dirname(to), { recursive: true });
    writeFiles({ [to]: readFileSync(from) }, { mode: 0o777 });
  } catch (error) {
    throw new UsageError(
      `cannot write ${to}: ${textOf(error)}. Name another file with --out, and set CLEARWAY_NATIVE_ADDON to it`,
    );
  }
}

/**
 * Compiles the addon in a temporary folder, and writes it to `out`, by default into this package. Prints Cargo's output. Returns the exit
 * status: 0, or 1 if something is missing or the compiler failed.
 */
export function build(out: string | undefined): number {
  const say = (line: string): void => void process.stderr.write(visible(`clearway-native: ${line}\n`));
  const sources = here("./addon");
  if (!existsSync(join(sources, "Cargo.toml"))) throw new UsageError(`the addon's sources are not there: ${sources}`);
  const to = out === undefined ? here("./clearway.node") : resolve(out);
  const needs = missing();
  if (needs.length > 0) {
    for (const line of needs) say(line);
    say("then run this command again: npx clearway-native build");
    return 1;
  }
  if (process.platform !== "win32" && versionOf("c++") === undefined)
    say("there is no C++ compiler (c++). The addon is built, but before Node 22.20 it maps no native memory as shared");
  const work = mkdtempSync(join(tmpdir(), "clearway-native-"));
  try {
    cpSync(sources, work, { recursive: true });
    const args = ["build", "--release", "--locked", "-p", "clearway-node", "--manifest-path", join(work, "Cargo.toml")];
    const { status } = spawnSync("cargo", [...args, "--target-dir", join(work, "target")], {
      stdio: "inherit",
      // The user's configuration may compile for another system.
      env: { ...process.env, CARGO_BUILD_TARGET: undefined },
    });
    if (status !== 0) {
      say("Cargo failed; its message is above");
      return 1;
    }
    put(join(work, "target/release", libraries[process.platform] ?? "libclearway_node.so"), to);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  try {
    createRequire(import.meta.url)(to);
  } catch (error) {
    say(`the addon was built, but does not load in this Node: ${to}: ${textOf(error)}`);
    return 1;
  }
  process.stdout.write(visible(`${to}\n`));
  return 0;
}
