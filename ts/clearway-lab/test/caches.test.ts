// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { hugePagesOf } from "../src/machine/facts.js";
import { cacheSizes } from "../src/memory/peers.js";

const folder = mkdtempSync(path.join(tmpdir(), "clearway-caches-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(index: string, files: Record<string, string>): void {
  mkdirSync(path.join(folder, index));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, index, name), `${text}\n`);
}

describe("the sizes of the caches", () => {
  test("are those for data, by level; what cannot be read is left out", () => {
    write("index0", { level: "1", type: "Data", size: "48K" });
    write("index1", { level: "1", type: "Instruction", size: "32K" });
    write("index2", { level: "2", type: "Unified", size: "2M" });
    write("index3", { level: "3", type: "Unified" });
    write("index4", { level: "4", type: "Unified", size: "much" });
    write("uevent", {});
    expect(cacheSizes(folder)).toEqual({
      l1Cache: { unit: "bytes", value: 49_152 },
      l2Cache: { unit: "bytes", value: 2_097_152 },
    });
  });

  test("are none where the kernel reports none", () => {
    expect(cacheSizes(path.join(folder, "missing"))).toEqual({});
  });
});

describe("the setting of transparent huge pages", () => {
  test.each([
    ["always [madvise] never\n", "madvise"],
    ["[always] madvise never\n", "always"],
    ["always madvise [never]\n", "never"],
    ["always madvise never\n", undefined],
    ["[sometimes]", undefined],
    ["", undefined],
  ])("of %j is %s", (file, expected) => {
    expect(hugePagesOf(file)).toBe(expected);
  });
});
