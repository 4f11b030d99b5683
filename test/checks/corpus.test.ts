// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { read, targets } from "../../native/fuzz/corpus.mjs";

test.each(targets)("the corpus of %s is one file of sorted words in base64, each case once", (target) => {
  const path = new URL(`../../native/fuzz/corpus/${target}.base64`, import.meta.url);
  const words = readFileSync(path, "utf8").replace(/\n$/, "").split(" ");
  expect(words).toEqual([...new Set(words)].sort());
  expect(read(target).length).toBe(words.length);
});

test("unpacking a packed corpus returns its cases, including an empty case, and equal cases once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "clearway-corpus-"));
  try {
    const copy = join(folder, "corpus.mjs");
    writeFileSync(copy, readFileSync(new URL("../../native/fuzz/corpus.mjs", import.meta.url)));
    const { pack, unpack, write } = (await import(copy)) as typeof import("../../native/fuzz/corpus.mjs");
    const { mkdirSync } = await import("node:fs");
    mkdirSync(join(folder, "corpus"));
    const cases = [Buffer.from([0, 255]), Buffer.from([]), Buffer.from([7]), Buffer.from([7])];
    expect(write("codec", cases)).toBe(3);
    const unpacked = unpack("codec");
    expect(readdirSync(unpacked)).toHaveLength(3);
    const before = readFileSync(join(folder, "corpus/codec.base64"), "utf8");
    expect(pack("codec")).toBe(3);
    expect(readFileSync(join(folder, "corpus/codec.base64"), "utf8")).toBe(before);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
