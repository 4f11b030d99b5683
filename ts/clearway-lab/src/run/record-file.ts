// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and reads the record of a run. `clearway lab` writes record.json; gzip makes record.json.gz of it.
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";

/** The names of a run's record, in the order in which a reader looks for them. */
export const RECORD_FILES = ["record.json", "record.json.gz"] as const;

/** Upper limit of a file and of its text. A full run has about 20 MB; V8 cannot make a text of more than 512 MB. */
export const FILE_BYTES_MAX = 256 * 2 ** 20;

/** Returns the path of the record in a folder: an existing one, or the name that `clearway lab` would write. */
export function recordIn(folder: string): string {
  const files = RECORD_FILES.map((name) => path.join(folder, name));
  return files.find((file) => statSync(file, { throwIfNoEntry: false }) !== undefined) ?? files[0]!;
}

/**
 * Returns the text of a file. Unpacks it if its name ends in `.gz`. Throws the errors of the file system and of zlib, and a RangeError for an
 * unpacked text of more than `bytesMax`.
 */
export function readText(file: string, bytesMax = FILE_BYTES_MAX): string {
  const bytes = readFileSync(file);
  if (!file.endsWith(".gz")) return bytes.toString("utf8");
  return gunzipSync(bytes, { maxOutputLength: bytesMax }).toString("utf8");
}
