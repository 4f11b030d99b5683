// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";

/**
 * Code as `rustfmt` writes it in a folder, by that folder's `rustfmt.toml`, so that a project's own check finds nothing to change.
 * Where there is no rustfmt the code stays as it is, which is also Rust. Blocks for as long as that takes, some 20 ms.
 */
export function rustfmt(code: string, folder: string): string {
  const { status, stdout } = spawnSync("rustfmt", ["--edition", "2024"], {
    cwd: folder,
    input: code,
    encoding: "utf8",
  });
  return status === 0 && stdout !== "" ? stdout : code;
}
