// SPDX-License-Identifier: MIT OR Apache-2.0
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { onInterruption } from "../../scripts/interruption.mjs";

test("a signal that comes with the first one is the same interruption, and a later one is another", () => {
  const signals = new EventEmitter();
  const heard: boolean[] = [];
  let now = 1000;
  const stop = onInterruption(
    (isFirst) => heard.push(isFirst),
    signals,
    () => now,
  );
  for (const at of [1000, 1000, 1299, 1300, 9000]) {
    now = at;
    signals.emit(at === 1299 ? "SIGTERM" : "SIGINT");
  }
  expect(heard).toEqual([true, false, false]);
  stop();
  expect(signals.eventNames()).toEqual([]);
});
