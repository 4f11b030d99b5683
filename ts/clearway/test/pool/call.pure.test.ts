// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { CallLife, type CallState, detach, PoolCall, prepareArguments } from "../../src/pool/call/call.js";
import { callSettingsOf, settingsOf } from "../../src/pool/options.js";
import { PoolTask } from "../../src/pool/schedule/scheduler.js";
import { CallTable } from "../../src/pool/worker/worker.js";
import { move } from "../../src/transfer/move.js";
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

test("a table of calls has the same content as a map, at any sequence of additions and removals", () => {
  // Ids with equal low bits collide in the table.
  const id = fc.tuple(fc.nat(4), fc.nat(3)).map(([low, high]) => low + high * 1024);
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), id), { maxLength: 80 }), (steps) => {
      const table = new CallTable();
      const map = new Map<number, { id: number }>();
      for (const [comes, id] of steps) {
        if (!comes) {
          table.delete(id);
          map.delete(id);
        } else if (!map.has(id)) {
          const call = { id } as PoolCall;
          table.set(id, call);
          map.set(id, call);
        }
        expect(table.get(id)).toBe(map.get(id));
        expect(table.size).toBe(map.size);
        expect(table.values()).toEqual([...map.values()].sort((a, b) => a.id - b.id));
      }
    }),
  );
});

const settings = callSettingsOf({}, settingsOf({ size: 1 }));

function prepared(args: unknown[]): PoolCall {
  const call = new PoolCall(1, new PoolTask("task"), args, settings, "");
  prepareArguments(call);
  return call;
}

describe("arguments of a call that must wait", () => {
  test("move at once when they are moved", () => {
    const bytes = new Uint8Array(8).fill(1);
    const call = prepared([move(bytes)]);
    detach(call);
    expect(bytes.byteLength).toBe(0);
    expect(call.args).toEqual([new Uint8Array(8).fill(1)]);
  });

  test("are otherwise copied once: the copy moves when they are sent, and the caller keeps the original", () => {
    const kept = new Uint8Array(16).fill(2);
    const large = new Uint8Array(64).fill(3);
    const call = prepared([move(new Uint8Array(8)), { kept }, large.subarray(4, 8)]);
    detach(call);
    const posted = structuredClone(call.args, { transfer: call.transfer as Transferable[] });
    expect(posted.slice(1)).toEqual([{ kept }, new Uint8Array(4).fill(3)]);
    expect([kept.byteLength, large.byteLength]).toEqual([16, 64]);
    const [, copies, part] = call.args as [Uint8Array, { kept: Uint8Array }, Uint8Array];
    expect([copies.kept.byteLength, part.byteLength]).toEqual([0, 0]);
    expect(call.crossing).toMatchObject({
      movedBytes: 8,
      copies: { "argument-not-moved": { count: 2, bytes: 20 } },
    });
  });

  test("stay as they are when none of them is moved", () => {
    const kept = new Uint8Array(16);
    const call = prepared([kept]);
    detach(call);
    expect(call.args[0]).toBe(kept);
    expect(call.transfer).toEqual([]);
  });

  test("stay one object when a moved and an unmoved argument share it", () => {
    const bytes = new Uint8Array(8);
    const call = prepared([move(bytes), bytes]);
    detach(call);
    expect(call.args[0]).toBe(call.args[1]);
    expect(call.transfer).toHaveLength(1);
  });
});
