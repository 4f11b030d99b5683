#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/cargo.mjs ARGUMENTS`: cargo in native/, with a plain word where there is no Rust.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isProgram } from "./problems.mjs";

export const native = fileURLToPath(new URL("../native", import.meta.url));

/** What to do where there is no cargo. */
export const missing =
  "Rust is missing. Add it with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy,rustfmt";

/** Runs cargo in native/ and returns its exit status. Says what is missing, and returns 127, where there is no cargo. */
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
