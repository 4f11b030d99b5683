// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import { CallLife, type CallState } from "../../src/pool/call/call.js";
import fc from "../fixtures/fast-check.js";

type Event =
  | "enqueue"
  | "setAside"
  | "post"
  | "start"
  | "cancel"
  | "answer"
  | "graceOver"
  | "lose"
  | "loseUnbegun"
  | "loseRepeatable";

function send(life: CallLife, event: Event): unknown {
  if (event === "lose") return life.lose(true, false);
  if (event === "loseUnbegun") return life.lose(false, false);
  if (event === "loseRepeatable") return life.lose(true, true);
  return life[event]();
}

const ways: Record<CallState, Event[]> = {
  idle: [],
  queued: ["enqueue"],
  posted: ["enqueue", "post"],
  started: ["enqueue", "post", "start"],
  cancelling: ["enqueue", "post", "cancel"],
  settled: ["enqueue", "post", "answer"],
};

// Every state, every event: what the shell is told to do, and where the call stands then. Empty cells do nothing.
const table: Record<CallState, Partial<Record<Event, [action: string | undefined, then: CallState]>>> = {
  idle: { enqueue: [undefined, "queued"], cancel: ["drop", "settled"] },
  queued: { setAside: [undefined, "idle"], post: [undefined, "posted"], cancel: ["drop", "settled"] },
  posted: {
    start: ["armTimeout", "started"],
    cancel: ["tell", "cancelling"],
    answer: ["deliver", "settled"],
    lose: ["fail", "settled"],
    loseUnbegun: ["requeue", "queued"],
    loseRepeatable: ["requeue", "queued"],
  },
  started: {
    cancel: ["tell", "cancelling"],
    answer: ["deliver", "settled"],
    lose: ["fail", "settled"],
    loseUnbegun: ["requeue", "queued"],
    loseRepeatable: ["requeue", "queued"],
  },
  cancelling: {
    answer: ["release", "settled"],
    graceOver: ["kill", "cancelling"],
    lose: ["release", "settled"],
    loseUnbegun: ["release", "settled"],
    loseRepeatable: ["release", "settled"],
  },
  settled: {},
};

const events = [
  "enqueue",
  "setAside",
  "post",
  "start",
  "cancel",
  "answer",
  "graceOver",
  "lose",
  "loseUnbegun",
  "loseRepeatable",
] as const satisfies Event[];
const silent = new Set<Event>(["enqueue", "setAside", "post"]);

describe("the life of a call", () => {
  for (const state of Object.keys(table) as CallState[]) {
    test.each(events)(`${state}, then %s`, (event) => {
      const life = new CallLife();
      for (const step of ways[state]) send(life, step);
      expect(life.state).toBe(state);
      const [action, then] = table[state][event] ?? [silent.has(event) ? undefined : "nothing", state];
      expect(send(life, event)).toBe(action);
      expect(life.state).toBe(then);
    });
  }

  test("tells its caller once at most, whatever happens in whatever order", () => {
    const telling = new Set(["drop", "tell", "deliver", "fail"]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 40 }), (order) => {
        const life = new CallLife();
        const told = order.map((event) => send(life, event)).filter((action) => telling.has(action as string));
        expect(told.length).toBeLessThanOrEqual(1);
        if (life.state === "settled") expect(told).toHaveLength(1);
      }),
    );
  });
});
