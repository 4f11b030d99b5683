// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";

/**
 * Formats Rust code with `rustfmt`, by the `rustfmt.toml` that applies to `folder`. So the format check of the user's project accepts the
 * code. If rustfmt is missing or fails, returns the code unchanged, which is valid Rust. Blocks for about 20 ms while rustfmt runs.
 */
export function rustfmt(code: string, folder: string): string {
  const { status, stdout } = spawnSync("rustfmt", ["--edition", "2024"], {
    cwd: folder,
    input: code,
    encoding: "utf8",
  });
  return status === 0 && stdout !== "" ? stdout : code;
}
