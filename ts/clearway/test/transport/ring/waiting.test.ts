// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test } from "vitest";
import { Op } from "../../../src/transport/protocol.js";
import { at } from "../../../src/transport/ring/layout.js";
import { type CallerLane, openRing } from "../../../src/transport/ring/open-ring.js";

const long = 7;
const unknown = 8;
let lane: CallerLane | undefined;

/** A caller whose worker sleeps or is awake, and runs one task that always takes long. */
function caller({ workerSleeps }: { workerSleeps: boolean }): { lane: CallerLane; sleeps: () => boolean } {
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
  lane = made;
  const words = new Int32Array(made.memory);
  words[at.toWorker.parked] = workerSleeps ? 1 : 0;
  return { lane: made, sleeps: () => Atomics.load(words, at.toCaller.parked) === 1 };
}

afterEach(() => {
  lane?.close();
  lane = undefined;
});

describe.runIf(typeof SharedArrayBuffer === "function")("a caller", () => {
  test("waits awake for a call of which nothing is known, by ring and by port", () => {
    const byRing = caller({ workerSleeps: false });
    expect(byRing.lane.send(Op.Call, unknown, 0, [])).toBe(true);
    expect(byRing.sleeps()).toBe(false);
    byRing.lane.close();
    const byPort = caller({ workerSleeps: true });
    byPort.lane.post([Op.Call, unknown, 0, []], []);
    expect(byPort.sleeps()).toBe(false);
  });

  test("does not wait awake for a call that always took long: the message for its answer wakes it", () => {
    const byRing = caller({ workerSleeps: false });
    expect(byRing.lane.send(Op.Call, long, 0, [])).toBe(true);
    expect(byRing.sleeps()).toBe(true);
    byRing.lane.close();
    const byPort = caller({ workerSleeps: true });
    byPort.lane.post([Op.Call, long, 0, [], Op.Call, long, 0, []], []);
    expect(byPort.sleeps()).toBe(true);
  });

  test("waits awake where one call of a message may be answered soon", () => {
    const { lane: made, sleeps } = caller({ workerSleeps: true });
    made.post([Op.Call, long, 0, [], Op.Call, unknown, 0, []], []);
    expect(sleeps()).toBe(false);
  });
});
