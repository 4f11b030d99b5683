// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, it } from "vitest";
import { watch } from "../../src/meter/watch.js";
import { busy } from "./busy.js";

// In its own file, for a page in which no watcher has run yet.
it("a watch finds a stall that delays its worker's start, and uses the worker afterwards", async () => {
  let seen = (): void => {};
  const first = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const watching = watch({
    floorMs: 60,
    onStall: ({ lengthMs }) => {
      if (lengthMs > 2000) seen();
    },
  });
  busy(2600);
  await first;
  await watching.ready;
  expect(watching.report().sources).toContainEqual({ name: "heartbeat", available: true });
  watching.stop();
});
