// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";

test("offloaded functions print what their comments say", async () => {
  await outputOf("./offload/build.mjs");
  expect(await outputOf("./offload/dist/main.js")).toEqual([
    "78498",
    "[ 3, 6, 9 ]",
    "[ { name: 'pen', amount: 2 }, { name: 'cup', amount: 7 } ]",
    "0 255",
    "1",
    "4",
    "9",
    "the user left",
    "invalid-argument",
  ]);
});
