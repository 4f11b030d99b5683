// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Returns the lines that an example's program prints. Rejects with its stderr if it fails or runs for more than 90 s. */
export async function outputOf(file: string, ...args: string[]): Promise<string[]> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...args], { timeout: 600_000 });
  return stdout.trimEnd().split("\n");
}
