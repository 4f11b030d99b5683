// SPDX-License-Identifier: MIT OR Apache-2.0
// Packs and unpacks the corpora. The corpus of each target is committed as one file, `corpus/TARGET.base64`: its sorted cases, separated by
// spaces. libFuzzer needs one file per case, so `unpack` writes the cases into target/corpus/.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const targets = ["abi", "agree", "codec"];

const packed = (target) => fileURLToPath(new URL(`corpus/${target}.base64`, import.meta.url));

/** Returns the folder for a target's unpacked cases. */
export const folderOf = (target) => fileURLToPath(new URL(`target/corpus/${target}`, import.meta.url));

/** Returns a target's cases as buffers. Throws if a case is not base64. */
export function read(target) {
  const words = readFileSync(packed(target), "utf8").replace(/\n$/, "").split(" ");
  return words.map((word, at) => {
    const bytes = Buffer.from(word, "base64");
    if (bytes.toString("base64") !== word)
      throw new Error(`corpus/${target}.base64: case ${at + 1} is no base64: ${word}`);
    return bytes;
  });
}

/** Writes a target's corpus: the cases, sorted and without duplicates. Returns the number of written cases. */
export function write(target, cases) {
  const words = [...new Set(cases.map((bytes) => bytes.toString("base64")))].sort();
  writeFileSync(packed(target), `${words.join(" ")}\n`);
  return words.length;
}

/** Unpacks a target's corpus into a new folder, and returns the folder. Deletes an older folder first. */
export function unpack(target) {
  const folder = folderOf(target);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const bytes of read(target)) {
    writeFileSync(`${folder}/${createHash("sha1").update(bytes).digest("hex")}`, bytes);
  }
  return folder;
}

/** Packs the cases in a target's folder. Returns the number of written cases. */
export function pack(target, folder = folderOf(target)) {
  return write(
    target,
    readdirSync(folder).map((name) => readFileSync(`${folder}/${name}`)),
  );
}
