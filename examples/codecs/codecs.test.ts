// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";

test("values, methods and a type of one's own go through bytes, and wrong bytes are refused with their place", async () => {
  expect(await outputOf("./codecs/main.js")).toEqual([
    "45 bytes",
    "[Object: null prototype] {",
    "  name: 'Zoë',",
    "  level: 0.5,",
    "  pixels: Uint8Array(3) [ 255, 0, 0 ]",
    "}",
    "3 6",
    "batteryLevel null",
    "UNAVAILABLE no battery",
    "[ Point { x: 1, y: 2 } ]",
    "[ 'a', 1 ]",
    "true",
    "truncated 15",
  ]);
});
