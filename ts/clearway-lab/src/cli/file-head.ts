// SPDX-License-Identifier: MIT OR Apache-2.0
// Reads the beginning of a file, which shows what wrote it.
import { closeSync, openSync, readSync } from "node:fs";

/** Number of bytes in which every file of Clearway shows that it is one. */
const HEAD_BYTES = 2000;

/** Returns the beginning of a file as text. Throws the file system's errors. */
export function headOf(file: string): string {
  const head = Buffer.alloc(HEAD_BYTES);
  const open = openSync(file, "r");
  try {
    return head.toString("utf8", 0, readSync(open, head));
  } finally {
    closeSync(open);
  }
}
