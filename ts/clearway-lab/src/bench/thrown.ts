// SPDX-License-Identifier: MIT OR Apache-2.0
// Describes what a user's function threw, in one line with its place.
import path from "node:path";
import { fileURLToPath } from "node:url";

const FRAME = /(?:^at (?:async )?|\()((?:file:\/\/)?(?:\/|[A-Za-z]:\\)[^()]*):(\d+):\d+\)?$/;

/** Returns `NAME: MESSAGE (FILE:LINE)`. Never throws, whatever was thrown. The place is that of the first line of the user's own code. */
export function describeThrown(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return `${typeof thrown === "string" ? JSON.stringify(thrown) : String(thrown)}`;
    const name = typeof thrown.name === "string" && thrown.name !== "" ? thrown.name : "Error";
    const message = String(thrown.message).split("\n")[0] ?? "";
    const place = placeOf(String(thrown.stack ?? ""));
    return `${name}: ${message}${place === undefined ? "" : ` (${place})`}`;
  } catch {
    return "a value that cannot be shown";
  }
}

function placeOf(stack: string): string | undefined {
  for (const line of stack.split("\n").slice(1)) {
    const found = FRAME.exec(line.trim());
    if (found === null) continue;
    const [, file = "", row = ""] = found;
    if (/[\\/]node_modules[\\/]|[\\/]clearway(-lab)?[\\/](dist|src|\.cache)[\\/]/.test(file)) continue;
    return `${path.basename(file.startsWith("file:") ? fileURLToPath(file) : file)}:${row}`;
  }
  return undefined;
}
