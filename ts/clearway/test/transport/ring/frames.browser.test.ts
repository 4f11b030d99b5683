// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, testPool } from "../../fixtures/pools.js";

type Ring = typeof import("../../fixtures/ring.tasks.js");

test("animation frames run while a caller makes one call after the other", async () => {
  const { call } = testPool<Ring>(builtUrl("ring"));
  let frames = 0;
  const frame = (): void => {
    if (++frames < 10) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  while (frames < 10) expect(await call.echo("x")).toBe("x");
});
