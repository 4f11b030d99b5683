// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";

/**
 * Formats Rust code with `rustfmt`, by the `rustfmt.toml` that applies to `folder`. So the format check of the user's project accepts the
 * code. If rustfmt is missing or fails, returns the code unchanged, which is valid Rust, and the reason. Blocks for about 20 ms while rustfmt
 * runs.
 */
export function rustfmt(code: string, folder: string): { text: string; unformatted?: string } {
  const { status, stdout, stderr, error } = spawnSync("rustfmt", ["--edition", "2024"], {
    cwd: folder,
    input: code,
    encoding: "utf8",
  });
  if (status === 0 && stdout !== "") return { text: stdout };
  return { text: code, unformatted: error ? error.message : (stderr.trim().split("\n")[0] ?? "") };
}
