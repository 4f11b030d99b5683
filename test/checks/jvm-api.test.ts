// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { compare } from "../../scripts/check/jvm-api.mjs";

let at: string;
let from: string;
beforeEach(() => {
  at = mkdtempSync(join(tmpdir(), "clearway-api-"));
  from = mkdtempSync(join(tmpdir(), "clearway-api-"));
});
afterEach(() => {
  for (const folder of [at, from]) rmSync(folder, { recursive: true });
});

test("a module without a snapshot is a problem until it is written", () => {
  writeFileSync(join(from, "meter.api"), "public final class clearway/meter/Stall {\n}\n");
  expect(compare(["meter"], from, { at })).toEqual([expect.stringContaining("jvm/meter/api/meter.api")]);
  expect(compare(["meter"], from, { at, write: true })).toEqual([]);
  expect(compare(["meter"], from, { at })).toEqual([]);
  expect(readFileSync(join(at, "jvm/meter/api/meter.api"), "utf8")).toContain("Stall");
});

test("a module whose API has changed is a problem", () => {
  writeFileSync(join(from, "meter.api"), "one\n");
  compare(["meter"], from, { at, write: true });
  writeFileSync(join(from, "meter.api"), "two\n");
  expect(compare(["meter"], from, { at })).toHaveLength(1);
});
