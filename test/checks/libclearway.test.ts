// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { libraries, platformOf } from "../../scripts/libclearway.mjs";

/** The first bytes of a library, with numbers at places. */
function head(size: number, ...numbers: [at: number, value: number, bytes: 2 | 4][]): Buffer {
  const bytes = Buffer.alloc(size);
  for (const [at, value, width] of numbers) bytes.writeUIntLE(value, at, width);
  return bytes;
}

const elf = (machine: number, wordSize = 2) =>
  head(64, [0, 0x464c457f, 4], [4, 0x0100 | wordSize, 2], [18, machine, 2]);
const machO = (processor: number) => head(32, [0, 0xfeedfacf, 4], [4, processor, 4]);
const pe = (machine: number, at = 128) => head(256, [0, 0x5a4d, 2], [60, at, 4], [128, 0x4550, 4], [132, machine, 2]);

describe("the platform of a library", () => {
  test.each([
    ["linux-x86_64", elf(62)],
    ["linux-aarch_64", elf(183)],
    ["osx-x86_64", machO(0x01000007)],
    ["osx-aarch_64", machO(0x0100000c)],
    ["windows-x86_64", pe(0x8664)],
  ])("is %s by its header", (platform, bytes) => expect(platformOf(bytes)).toBe(platform));

  test.each([
    ["an empty file", Buffer.alloc(0)],
    ["a text", Buffer.from("#!/bin/sh\n".repeat(20))],
    ["another processor", elf(40)],
    ["a header that is cut", elf(183).subarray(0, 19)],
    ["a Windows program for another processor", pe(0xaa64)],
    ["a Windows program whose header is outside", pe(0x8664, 0xffff_ff00)],
  ])("is unknown for %s", (_, bytes) => expect(platformOf(bytes)).toBeUndefined());
});

describe("the built libraries", () => {
  let built: string;
  const own = () => join(built, "no-such-file");
  beforeEach(async () => {
    built = await mkdtemp(join(tmpdir(), "clearway-libraries-"));
  });
  afterEach(() => rm(built, { recursive: true, force: true }));

  const put = async (target: string, file: string, bytes: Buffer) => {
    const path = join(built, target, "release", file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
    return path;
  };

  test("are those of every platform whose build is there", async () => {
    expect(libraries({ built, own: own() })).toEqual([]);
    const arm = await put("aarch64-unknown-linux-gnu", "libclearway.so", elf(183));
    const mac = await put("aarch64-apple-darwin", "libclearway.dylib", machO(0x0100000c));
    await put("wasm32-unknown-unknown", "libclearway.so", elf(183));
    expect(libraries({ built, own: own() })).toEqual([
      { platform: "linux-aarch_64", path: arm, file: "libclearway.so" },
      { platform: "osx-aarch_64", path: mac, file: "libclearway.dylib" },
    ]);
  });

  test("are refused when one is for another platform than its folder", async () => {
    const path = await put("aarch64-unknown-linux-gnu", "libclearway.so", elf(62));
    expect(() => libraries({ built, own: own() })).toThrow(
      `${path} must be a library for linux-aarch_64: platform=linux-x86_64`,
    );
  });
});
