// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";

test("methods, messages, frames and errors cross between two ends, and large lists move", async () => {
  const lines = await outputOf("./camera/main.js");
  // The log line of the camera may come at any time.
  expect(lines.filter((line) => line !== "the camera is on")).toEqual([
    "2",
    "1000000 0",
    "3",
    "OUT_OF_RANGE no zoom of 9 [Object: null prototype] { max: 8 }",
    "not-implemented",
    "true true",
    "1000000 []",
  ]);
  expect(lines).toContain("the camera is on");
});
