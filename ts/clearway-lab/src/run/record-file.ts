// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds and reads the record of a run. `clearway lab` writes record.json; `clearway keep` compresses it to record.json.gz.
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { constants, gunzipSync, gzipSync } from "node:zlib";

/** The names of a run's record, in the order in which a reader looks for them. */
export const RECORD_FILES = ["record.json", "record.json.gz"] as const;
export const PACKED_RECORD_FILE = RECORD_FILES[1];

/** Upper limit of a file and of its text. A full run has about 20 MB; V8 cannot make a text of more than 512 MB. */
export const FILE_BYTES_MAX = 256 * 2 ** 20;

/** Position of the operating system's number in the header of a gzip file, and the number for "unknown" (RFC 1952, section 2.3). */
const GZIP_OS = { at: 9, unknown: 255 };

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

/** Compresses a text. Equal texts become equal bytes on every operating system. */
export function packedText(text: string): Buffer {
  const packed = gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
  packed[GZIP_OS.at] = GZIP_OS.unknown;
  return packed;
}
