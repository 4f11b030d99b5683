// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Patience } from "../../../src/transport/ring/patience.js";
import { Poller } from "../../../src/transport/ring/poller.js";

/** A poller on a loop that turns when told, a lane whose frames are a number, and what the test does with them. */
function setUp(stepMs = 0.001) {
  let clock = 1000;
  let next: (() => void) | undefined;
  const lane = {
    frames: 0,
    parked: true,
    blocked: false,
    expected: true,
    drain: () => {
      const some = lane.frames > 0;
      lane.frames = 0;
      return some;
    },
    park: () => {
      lane.parked = lane.frames === 0;
      return lane.parked;
    },
    unpark: () => {
      lane.parked = false;
    },
    expects: () => lane.expected,
  };
  const poller = new Poller({
    now: () => clock,
    afterTurn: (turn) => {
      expect(next).toBeUndefined();
      next = turn;
    },
  });
  const polled = poller.add(lane);
  const turn = (): boolean => {
    const now = next;
    next = undefined;
    clock += stepMs;
    now?.();
    return now !== undefined;
  };
  return { lane, poller, polled, turn, pass: (ms: number) => (clock += ms) };
}

describe("the caller's poller", () => {
  test("does nothing while nothing was sent", () => {
    const { turn, poller } = setUp();
    expect([turn(), poller.turns]).toEqual([false, 0]);
  });

  test("looks once a turn while an answer is expected, and parks when it has come and no call follows", () => {
    const { lane, polled, turn } = setUp();
    polled.sent(false);
    for (let at = 0; at < 5; at++) expect([turn(), lane.parked]).toEqual([true, false]);
    lane.frames = 1;
    lane.expected = false;
    turn();
    expect(lane.parked).toBe(false);
    turn();
    expect([turn(), lane.parked]).toEqual([false, true]);
  });

  test("parks when its patience is over, sooner the next time, never before a turn and a short task fit", () => {
    const { lane, polled, turn } = setUp(0.005);
    const turns = Array.from({ length: 5 }, () => {
      polled.sent(false);
      let count = 0;
      while (!lane.parked) {
        turn();
        count++;
      }
      expect(turn()).toBe(false);
      return count;
    });
    expect(turns.map((count) => count * 5)).toEqual([210, 60, 35, 35, 35]);
  });

  test("is patient again once an answer came in time", () => {
    const { lane, polled, turn } = setUp(0.005);
    const rounds = (): number => {
      polled.sent(false);
      let count = 0;
      for (; !lane.parked; count++) turn();
      return count;
    };
    rounds();
    rounds();
    polled.sent(false);
    lane.frames = 1;
    turn();
    expect(rounds()).toBeGreaterThan(40);
  });

  test("stops looking at a lane that stands at a mark: the message will tell", () => {
    const { lane, polled, turn } = setUp();
    polled.sent(false);
    lane.blocked = true;
    turn();
    expect(turn()).toBe(false);
    lane.blocked = false;
    lane.frames = 1;
    polled.woken();
    expect(turn()).toBe(true);
    expect(lane.frames).toBe(0);
  });

  test("sleeps over the first call after a pause to a worker that sleeps, and not over those that follow", () => {
    const { lane, polled, turn, pass } = setUp();
    polled.sent(true);
    expect([turn(), lane.parked]).toEqual([false, true]);
    pass(0.03);
    lane.frames = 1;
    polled.woken();
    turn();
    polled.sent(true);
    expect([turn(), lane.parked]).toEqual([true, false]);
  });

  test("goes on when something came while it was about to park", () => {
    const { lane, polled, turn } = setUp();
    lane.expected = false;
    polled.sent(false);
    lane.park = () => {
      lane.frames = 1;
      lane.park = () => true;
      return false;
    };
    turn();
    expect(turn()).toBe(true);
    expect(lane.frames).toBe(0);
  });
});

describe("patience", () => {
  test("is whole after a meeting, a quarter after a miss, and gone where it is not kept", () => {
    const patience = new Patience(50, 1, false);
    const after = [];
    for (let at = 0; at < 4; at++) {
      patience.gaveUp();
      after.push(patience.at(0));
    }
    expect(after).toEqual([12.5, 3.125, 0, 0]);
    patience.woken(2000);
    expect(patience.at(0)).toBe(0);
    patience.woken(40);
    expect(patience.at(0)).toBe(12);
    patience.met();
    expect(patience.at(0)).toBe(50);
  });

  test("shrinks where every wait ends in sleep and then an answer, as on a core that both share", () => {
    const patience = new Patience(200, 1, false);
    for (let at = 0; at < 10; at++) {
      patience.gaveUp();
      patience.woken(210);
    }
    expect(patience.at(0)).toBeLessThanOrEqual(12);
  });

  test("rests for a while when the core was taken away", () => {
    const patience = new Patience(50, 1, false);
    patience.jumped(100);
    expect([patience.at(101), patience.at(106)]).toEqual([0, 50]);
  });
});
