// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawnSync } from "node:child_process";

/**
 * Formats code with `rustfmt`, by the `rustfmt.toml` of a folder. A project's own format check then finds nothing to change. Without
 * rustfmt the code stays unformatted, but is valid Rust. Blocks while rustfmt runs, for about 20 ms.
 */
export function rustfmt(code: string, folder: string): string {
  const { status, stdout } = spawnSync("rustfmt", ["--edition", "2024"], {
    cwd: folder,
    input: code,
    encoding: "utf8",
  });
  return status === 0 && stdout !== "" ? stdout : code;
}
