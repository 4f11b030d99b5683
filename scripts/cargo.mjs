#!/usr/bin/env node
// SPDX-License-Identifier: MIT OR Apache-2.0
// `node scripts/cargo.mjs ARGUMENTS`: runs cargo in native/. If Rust is missing, prints how to install it.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { isProgram } from "./problems.mjs";

export const native = fileURLToPath(new URL("../native", import.meta.url));

/** Instructions for a machine without cargo. */
export const missing =
  "Rust is missing. Add it with: curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c clippy,rustfmt";

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
