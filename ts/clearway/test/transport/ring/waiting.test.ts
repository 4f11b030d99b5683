// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: each version of V8 wakes an asynchronous wait otherwise.
import { afterEach, describe, expect, test } from "vitest";
import { Op } from "../../../src/transport/protocol.js";
import { type CallerRingPort, openRing } from "../../../src/transport/ring/caller-ring-port.js";
import { at } from "../../../src/transport/ring/layout.js";

const long = 7;
const unknown = 8;
let ring: CallerRingPort | undefined;

/** Opens a ring for a caller. Its worker is parked or awake, and call `long` is of a task that has always taken long. */
function caller({ workerSleeps }: { workerSleeps: boolean }): { ring: CallerRingPort; sleeps: () => boolean } {
  const made = openRing(
    { post: () => {} },
    {
      message: () => {},
      frame: () => {},
      drained: () => {},
      broken: () => {},
      copied: () => {},
      calls: { size: 1 },
      expectsSoon: (id) => id !== long,
    },
  );
  ring = made;
  const words = new Int32Array(made.memory);
  words[at.toWorker.parked] = workerSleeps ? 1 : 0;
  return { ring: made, sleeps: () => Atomics.load(words, at.toCaller.parked) === 1 };
}

afterEach(() => {
  ring?.close();
  ring = undefined;
});

describe.runIf(typeof SharedArrayBuffer === "function")("a caller", () => {
  test("stays awake after a call with an unknown duration, by ring and by port", () => {
    const byRing = caller({ workerSleeps: false });
    expect(byRing.ring.send(Op.Call, unknown, 0, [])).toBe(true);
    expect(byRing.sleeps()).toBe(false);
    byRing.ring.close();
    const byPort = caller({ workerSleeps: true });
    byPort.ring.post([Op.Call, unknown, 0, []], []);
    expect(byPort.sleeps()).toBe(false);
  });

  test("parks after a call that has always taken long, and the message with its answer wakes it", () => {
    const byRing = caller({ workerSleeps: false });
    expect(byRing.ring.send(Op.Call, long, 0, [])).toBe(true);
    expect(byRing.sleeps()).toBe(true);
    byRing.ring.close();
    const byPort = caller({ workerSleeps: true });
    byPort.ring.post([Op.Call, long, 0, [], Op.Call, long, 0, []], []);
    expect(byPort.sleeps()).toBe(true);
  });

  test("stays awake when one call of a message may be answered soon", () => {
    const { ring: made, sleeps } = caller({ workerSleeps: true });
    made.post([Op.Call, long, 0, [], Op.Call, unknown, 0, []], []);
    expect(sleeps()).toBe(false);
  });
});
