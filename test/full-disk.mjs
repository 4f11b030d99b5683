// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the disk full while the files of a folder are written. A test imports this file, or has a command's process load it first.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";

const { openSync, writeFileSync } = fs;

/** From now on, the write of the temporary file number `at` (from 0) in `folder` fails once, with half of its content written. */
export function fillDisk(folder, at) {
  const left = new Map();
  let count = 0;
  fs.openSync = (file, ...rest) => {
    const handle = openSync(file, ...rest);
    const isPart = String(file).endsWith(".part") && path.dirname(path.resolve(String(file))) === path.resolve(folder);
    if (isPart) left.set(handle, count++);
    return handle;
  };
  fs.writeFileSync = (file, content, ...rest) => {
    if (left.get(file) !== at) return writeFileSync(file, content, ...rest);
    left.clear();
    writeFileSync(file, content.slice(0, content.length / 2));
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  };
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { openSync, writeFileSync });
    syncBuiltinESMExports();
  };
}

const { CLEARWAY_TEST_FULL_FOLDER: folder, CLEARWAY_TEST_FULL_AT: at } = process.env;
if (folder !== undefined) fillDisk(folder, Number(at));
