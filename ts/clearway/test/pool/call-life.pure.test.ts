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
  | "answerInPieces"
  | "arrive"
  | "graceOver"
  | "lose"
  | "loseUnbegun"
  | "loseRepeatable";

function send(life: CallLife, event: Event): unknown {
  if (event === "lose") return life.lose(true, false);
  if (event === "loseUnbegun") return life.lose(false, false);
  if (event === "loseRepeatable") return life.lose(true, true);
  if (event === "answerInPieces") return life.answer(true);
  return life[event]();
}

const ways: Record<CallState, Event[]> = {
  idle: [],
  queued: ["enqueue"],
  posted: ["enqueue", "post"],
  started: ["enqueue", "post", "start"],
  arriving: ["enqueue", "post", "answerInPieces"],
  cancelling: ["enqueue", "post", "cancel"],
  settled: ["enqueue", "post", "answer"],
};

// Each state with each event: the action for the caller of this state machine, and the next state. A missing cell does nothing.
const table: Record<CallState, Partial<Record<Event, [action: string | undefined, then: CallState]>>> = {
  idle: { enqueue: [undefined, "queued"], cancel: ["drop", "settled"] },
  queued: { setAside: [undefined, "idle"], post: [undefined, "posted"], cancel: ["drop", "settled"] },
  posted: {
    start: ["armTimeout", "started"],
    cancel: ["notify", "cancelling"],
    answer: ["deliver", "settled"],
    answerInPieces: ["await", "arriving"],
    lose: ["fail", "settled"],
    loseUnbegun: ["requeue", "queued"],
    loseRepeatable: ["requeue", "queued"],
  },
  started: {
    cancel: ["notify", "cancelling"],
    answer: ["deliver", "settled"],
    answerInPieces: ["await", "arriving"],
    lose: ["fail", "settled"],
    loseUnbegun: ["requeue", "queued"],
    loseRepeatable: ["requeue", "queued"],
  },
  arriving: { cancel: ["drop", "settled"], arrive: ["deliver", "settled"] },
  cancelling: {
    answer: ["release", "settled"],
    answerInPieces: ["release", "settled"],
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
  "answerInPieces",
  "arrive",
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

  test("settles its caller once at most, in any order of events", () => {
    const notifying = new Set(["drop", "notify", "deliver", "fail"]);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 40 }), (order) => {
        const life = new CallLife();
        const told = order.map((event) => send(life, event)).filter((action) => notifying.has(action as string));
        expect(told.length).toBeLessThanOrEqual(1);
        if (life.state === "settled") expect(told).toHaveLength(1);
      }),
    );
  });
});
