#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/cargo.mjs ARGUMENTS`: runs cargo in native/. If Rust is missing, prints how to install it.
import { spawnSync } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isProgram } from "./problems.mjs";

export const native = fileURLToPath(new URL("../native", import.meta.url));

/** Instructions for a machine without cargo. */
export const missing =
  "Rust is missing. Add it with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy,rustfmt";

/**
 * Returns the options of Rust's compiler after which a file that was built from the sources in a folder names no folder of this machine. The
 * same sources then give the same file on every machine.
 */
export const withoutFolders = (sources = native) => [
  `--remap-path-prefix=${sources}=/clearway`,
  `--remap-path-prefix=${process.env.CARGO_HOME ?? join(homedir(), ".cargo")}=/cargo`,
];

/** Runs cargo in native/ and returns its exit status. Without cargo, prints how to install it and returns 127. */
export function cargo(args, options = {}) {
  const { status, error } = spawnSync("cargo", args, { cwd: native, stdio: "inherit", ...options });
  if (error?.code === "ENOENT") {
    console.error(missing);
    return 127;
  }
  if (error) throw error;
  return status ?? 1;
}

if (isProgram(import.meta)) process.exitCode = cargo(process.argv.slice(2));
