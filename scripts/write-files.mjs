// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes the files of every command: whole or not at all, and never through a link.
import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/**
 * Writes files that belong together, given as paths with their contents. All contents are on the disk, in temporary files, before the first
 * gets its name: a disk that fills leaves all old files. A replaced file keeps its mode; `mode` is that of a new one. A device or a pipe is
 * written to.
 *
 * Throws the file system's errors, and ELOOP for a link to a file or to nothing: the file behind a link may belong to somebody else.
 *
 * @param {Readonly<Record<string, string | Uint8Array>>} contents
 * @param {{ readonly mode?: number }} [options]
 */
export function writeFiles(contents, { mode = 0o666 } = {}) {
  const all = Object.entries(contents).map(([file, content]) => ({ file, content, ...targetOf(file) }));
  const written = [];
  try {
    for (const { file, content, isStream, oldMode } of all) {
      if (isStream) continue;
      // Another user of the folder cannot guess the name, and the flag refuses a file or a link that is there all the same.
      const part = path.join(path.dirname(file), `.clearway-${randomBytes(12).toString("hex")}.part`);
      const handle = openSync(part, "wx", mode);
      written.push({ part, file });
      try {
        writeFileSync(handle, content);
        if (oldMode !== undefined) fchmodSync(handle, oldMode);
        // Some file systems report a full disk only now.
        fsyncSync(handle);
      } finally {
        closeSync(handle);
      }
    }
    for (const { file, content, isStream } of all) if (isStream) writeFileSync(file, content);
    for (const each of written) {
      renameSync(each.part, each.file);
      each.part = undefined;
    }
  } catch (error) {
    for (const { part } of written) if (part !== undefined) rmSync(part, { force: true });
    throw error;
  }
}

/** Returns whether a path is a device or a pipe, and the mode of a file that is replaced. Throws if the path must not be written. */
function targetOf(file) {
  const own = lstatSync(file, { throwIfNoEntry: false });
  if (own === undefined) return { isStream: false };
  const found = own.isSymbolicLink() ? statSync(file, { throwIfNoEntry: false }) : own;
  if (found !== undefined && !found.isFile() && !found.isDirectory()) return { isStream: true };
  if (own.isSymbolicLink()) throw refused("ELOOP", "it is a symbolic link", file);
  if (own.isDirectory()) throw refused("EISDIR", "it is a folder", file);
  // Only the folder's permissions count for a rename. A file that its owner protects stays.
  accessSync(file, constants.W_OK);
  return { isStream: false, oldMode: own.mode & 0o777 };
}

function refused(code, why, file) {
  return Object.assign(new Error(`${code}: ${why}, open '${file}'`), { code, syscall: "open", path: file });
}
