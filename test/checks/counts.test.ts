// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { countOf } from "../../scripts/counts.mjs";

test("a stage's tests are counted from the output of Vitest, cargo and Clearway's own programs", () => {
  expect(countOf("\u001b[2m      Tests \u001b[22m 1 failed | 1946 passed | 2 skipped (1949)")).toEqual({
    passed: 1946,
    failed: 1,
    skipped: 2,
  });
  const cargo = "test result: ok. 8 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.03s";
  expect(countOf(`${cargo}\n\n${cargo}\n`)).toEqual({ passed: 16, failed: 0, skipped: 2 });
  expect(countOf("jvm, JDK 17: 475 passed, 0 failed, 3 skipped")).toEqual({ passed: 475, failed: 0, skipped: 3 });
  expect(countOf("12 passed, 1 failed")).toEqual({ passed: 12, failed: 1, skipped: 0 });
});

test("a stage whose output has no tests has no count", () => {
  expect(countOf("build: clearway\nall well\n")).toBeUndefined();
});
