// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

test("an ImageBitmap moves", async () => {
  const { call } = testPool<typeof import("../fixtures/moves.tasks.js")>(builtUrl("moves"), { strict: true });
  const { bitmap } = await call.bitmap();
  expect([bitmap.width, bitmap.height]).toEqual([4, 2]);
  bitmap.close();
});
