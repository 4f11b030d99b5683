// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { AdaptiveSpin, Poller } from "../../../src/transport/ring/poller.js";

/** Creates a poller with a loop that turns on demand, and a ring whose frames are a count. */
function setUp(stepMs = 0.001) {
  let clock = 1000;
  let next: (() => void) | undefined;
  const ring = {
    frames: 0,
    parked: true,
    blocked: false,
    expected: true,
    drain: () => {
      const some = ring.frames > 0;
      ring.frames = 0;
      return some;
    },
    park: () => {
      ring.parked = ring.frames === 0;
      return ring.parked;
    },
    unpark: () => {
      ring.parked = false;
    },
    expects: () => ring.expected,
    waits: 0,
    /** Makes the answer arrive at every third poll. */
    answers: false,
    get waiting() {
      ring.waits++;
      if (ring.answers && ring.waits % 3 === 0) ring.frames = 1;
      return ring.frames > 0;
    },
  };
  const poller = new Poller({
    now: () => clock,
    afterTurn: (turn) => {
      expect(next).toBeUndefined();
      next = turn;
    },
  });
  const polled = poller.add(ring);
  const turn = (): boolean => {
    const now = next;
    next = undefined;
    clock += stepMs;
    now?.();
    return now !== undefined;
  };
  return { ring, poller, polled, turn, pass: (ms: number) => (clock += ms) };
}

describe("the poll after a send of the only open call", () => {
  /** Returns a hot ring in a turn that has just begun. */
  function hot() {
    const made = setUp();
    made.polled.sent(true);
    expect(made.ring.waits).toBe(0);
    made.turn();
    return made;
  }

  test("reads the answer at once on a hot ring", () => {
    const { ring, polled } = hot();
    ring.answers = true;
    polled.sent(true);
    expect([ring.waits, ring.frames]).toEqual([3, 0]);
  });

  test("does not happen while other calls are open", () => {
    const { ring, polled } = hot();
    ring.answers = true;
    polled.sent();
    expect(ring.waits).toBe(0);
  });

  test("does not happen later than 0.1 ms after the last turn of the event loop began", () => {
    const { ring, polled, turn, pass } = hot();
    ring.answers = true;
    for (let call = 0; call < 10; call++) {
      pass(0.01);
      polled.sent(true);
    }
    expect(ring.waits).toBe(30);
    pass(0.01);
    polled.sent(true);
    expect(ring.waits).toBe(30);
    turn();
    polled.sent(true);
    expect(ring.waits).toBe(33);
  });

  test("happens less and less often while answers take longer, with 256 polls each", () => {
    const { ring, polled, turn } = hot();
    const polls: number[] = [];
    for (let call = 0; call < 300; call++) {
      const before = ring.waits;
      polled.sent(true);
      if (ring.waits > before) {
        expect(ring.waits - before).toBe(256);
        polls.push(call);
      }
      // The answer arrives in the next turn.
      ring.frames = 1;
      turn();
    }
    expect(polls).toEqual([0, 2, 6, 14, 30, 62, 126, 254]);
  });

  test("keeps the ring hot for one more turn, for the next call, and then lets it park", () => {
    const { ring, polled, turn } = hot();
    ring.answers = true;
    polled.sent(true);
    ring.expected = false;
    turn();
    expect(ring.parked).toBe(false);
    turn();
    expect(ring.parked).toBe(true);
  });
});

describe("the caller's poller", () => {
  test("does nothing before a frame is sent", () => {
    const { turn, poller } = setUp();
    expect([turn(), poller.turns]).toEqual([false, 0]);
  });

  test("polls once per turn while an answer is expected, and parks when no call follows the answer", () => {
    const { ring, polled, turn } = setUp();
    polled.sent();
    for (let at = 0; at < 5; at++) expect([turn(), ring.parked]).toEqual([true, false]);
    ring.frames = 1;
    ring.expected = false;
    turn();
    expect(ring.parked).toBe(false);
    turn();
    expect([turn(), ring.parked]).toEqual([false, true]);
  });

  test("parks when its spin ends, and does not poll again until an answer arrives soon after a park", () => {
    const { ring, polled, turn, pass } = setUp(1 / 128);
    const turns = (): number => {
      let count = 0;
      for (polled.sent(); !ring.parked; count++) turn();
      expect(turn()).toBe(false);
      return count;
    };
    expect([turns(), turns(), turns()]).toEqual([27, 0, 0]);
    pass(2);
    ring.expected = false;
    polled.woken();
    expect([ring.parked, turns()]).toEqual([true, 0]);
    pass(0.1);
    polled.woken();
    ring.expected = true;
    expect([ring.parked, turns()]).toEqual([true, 27]);
  });

  test("keeps polling after an answer in time, but not after one for which the worker took the core", () => {
    const { ring, polled, turn, pass } = setUp(0.005);
    const answered = (afterMs: number): boolean => {
      polled.sent();
      turn();
      pass(afterMs);
      ring.frames = 1;
      ring.expected = false;
      while (!ring.parked) turn();
      ring.expected = true;
      polled.sent();
      return ring.parked;
    };
    expect(answered(0.01)).toBe(false);
    expect(answered(0.05)).toBe(true);
  });

  test("stops polling a ring at a mark, because a message will wake it", () => {
    const { ring, polled, turn } = setUp();
    polled.sent();
    ring.blocked = true;
    turn();
    expect(turn()).toBe(false);
    ring.blocked = false;
    ring.frames = 1;
    polled.woken();
    expect(turn()).toBe(true);
    expect(ring.frames).toBe(0);
  });

  test.each([false, true])("has a ring hot or parked after every message, with more expected: %s", (expected) => {
    const { ring, polled, turn } = setUp();
    ring.expected = expected;
    // The sender of a message clears `parked`.
    ring.parked = false;
    polled.woken();
    expect([turn(), ring.parked]).toEqual(expected ? [true, false] : [false, true]);
  });

  test("polls again when a frame arrives while it parks after a message", () => {
    const { ring, polled, turn } = setUp();
    ring.expected = false;
    ring.frames = 1;
    polled.woken();
    expect([turn(), ring.frames]).toEqual([true, 0]);
    while (turn());
    expect(ring.parked).toBe(true);
  });

  test("keeps polling when a frame arrives while it parks", () => {
    const { ring, polled, turn } = setUp();
    ring.expected = false;
    polled.sent();
    ring.park = () => {
      ring.frames = 1;
      ring.park = () => true;
      return false;
    };
    turn();
    expect(turn()).toBe(true);
    expect(ring.frames).toBe(0);
  });
});

describe("AdaptiveSpin", () => {
  test("has its full length after an answer in time, and none after a miss", () => {
    const spin = new AdaptiveSpin(50);
    spin.gaveUp();
    expect(spin.usAt(0)).toBe(0);
    spin.caught();
    expect(spin.usAt(0)).toBe(50);
  });

  test("is tried again after an answer soon after parking, but not after a late one", () => {
    const spin = new AdaptiveSpin(50);
    spin.gaveUp();
    spin.woken(2000);
    expect(spin.usAt(0)).toBe(0);
    spin.woken(40);
    expect(spin.usAt(0)).toBe(50);
  });

  test("is tried less and less often when every spin ends in parking before the answer, as on a shared core", () => {
    const spin = new AdaptiveSpin(200);
    const trials: number[] = [];
    for (let at = 1; at <= 600; at++) {
      if (spin.usAt(0) > 0) trials.push(at);
      spin.gaveUp();
      spin.woken(210);
    }
    expect(trials).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 384, 512]);
    spin.caught();
    spin.gaveUp();
    spin.woken(210);
    expect(spin.usAt(0)).toBe(200);
  });

  test("pauses for a while after the core was taken away", () => {
    const spin = new AdaptiveSpin(50);
    spin.jumped(100);
    expect([spin.usAt(101), spin.usAt(106)]).toEqual([0, 50]);
  });
});
