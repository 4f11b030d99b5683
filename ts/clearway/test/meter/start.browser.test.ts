// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, it } from "vitest";
import type { Stall } from "../../src/meter/stall.js";
import { watch } from "../../src/meter/watch.js";
import { atLeastMs, busy } from "./known-stalls.js";

// A file of its own, for a page in which no watcher has run yet.
it("a watch sees a stall that keeps its worker from starting, and has its worker afterwards", async () => {
  const told: Stall[] = [];
  let seen = (): void => {};
  const first = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const watching = watch({
    floorMs: 60,
    onStall: (stall) => {
      told.push(stall);
      if (stall.lengthMs > 2000) seen();
    },
  });
  const known = busy(2600);
  await first;
  await watching.ready;
  expect(Math.max(...told.map(({ lengthMs }) => lengthMs))).toBeGreaterThanOrEqual(atLeastMs(known.lengthMs));
  expect(watching.report().sources).toContainEqual({ name: "heartbeat", available: true });
  watching.stop();
});
