// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { CallLife, type CallState, detach, PoolCall, prepareArguments } from "../../src/pool/call/call.js";
import { type CallOptions, callSettingsOf, type PoolOptions, settingsOf } from "../../src/pool/options.js";
import { Backlog, PriorityQueue, type Queued } from "../../src/pool/schedule/backlog.js";
import { PoolTask } from "../../src/pool/schedule/scheduler.js";
import { CallTable } from "../../src/pool/worker/worker.js";
import { workerIndexOf } from "../../src/pool/worker-of-key.js";
import { move } from "../../src/transfer/move.js";
import fc from "../fixtures/fast-check.js";

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
] as const;
type Event = (typeof events)[number];

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

// The model of the queue: one list, sorted in the promised order.
class Model {
  items: Queued[] = [];
  taken: Queued[] = [];
  lastId = 0;

  sort(): void {
    this.items.sort((a, b) => b.priority - a.priority || a.id - b.id);
  }
}

type Real = PriorityQueue<Queued>;

class Add implements fc.Command<Model, Real> {
  constructor(readonly priority: number) {}
  check = () => true;
  run(model: Model, real: Real): void {
    const item = { priority: this.priority, id: ++model.lastId };
    model.items.push(item);
    model.sort();
    real.add(item);
    same(model, real);
  }
  toString = () => `add(${this.priority})`;
}

class Take implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    const item = model.items.shift();
    expect(real.peek()).toBe(item);
    expect(real.take()).toBe(item);
    if (item !== undefined) model.taken.push(item);
    same(model, real);
  }
  toString = () => "take";
}

class PutBack implements fc.Command<Model, Real> {
  constructor(readonly pick: number) {}
  check = (model: Readonly<Model>) => model.taken.length > 0;
  run(model: Model, real: Real): void {
    const [item] = model.taken.splice(this.pick % model.taken.length, 1);
    model.items.push(item!);
    model.sort();
    real.add(item!);
    same(model, real);
  }
  toString = () => `putBack(${this.pick})`;
}

class Remove implements fc.Command<Model, Real> {
  constructor(readonly pick: number) {}
  check = (model: Readonly<Model>) => model.items.length > 0;
  run(model: Model, real: Real): void {
    const [item] = model.items.splice(this.pick % model.items.length, 1);
    expect(real.remove(item!)).toBe(true);
    expect(real.remove(item!)).toBe(false);
    same(model, real);
  }
  toString = () => `remove(${this.pick})`;
}

function same(model: Model, real: Real): void {
  expect([...real]).toEqual(model.items);
  expect(real.length).toBe(model.items.length);
  const lowest = Math.min(...model.items.map((item) => item.priority));
  expect(real.oldest()).toBe(model.items.find((item) => item.priority === lowest));
}

describe("the queue", () => {
  test("returns higher priorities first, and equal ones in order of arrival, at any sequence of operations", () => {
    const commands = fc.commands(
      [
        fc.integer({ min: -2, max: 2 }).map((priority) => new Add(priority)),
        fc.constant(new Take()),
        fc.nat(20).map((pick) => new PutBack(pick)),
        fc.nat(20).map((pick) => new Remove(pick)),
      ],
      { maxCommands: 60 },
    );
    fc.assert(
      fc.property(commands, (run) => {
        fc.modelRun(() => ({ model: new Model(), real: new PriorityQueue<Queued>() }), run);
      }),
    );
  });

  test("keeps its order over thousands of items while it trims taken ones", () => {
    const queue = new PriorityQueue<Queued>();
    let taken = 0;
    for (let id = 0; id < 10_000; id++) {
      queue.add({ priority: 0, id });
      if (id % 4 !== 0) expect(queue.take()!.id).toBe(taken++);
    }
    while (queue.length > 0) expect(queue.take()!.id).toBe(taken++);
    expect(taken).toBe(10_000);
    expect(queue.take()).toBeUndefined();
  });
});

let lastId = 0;
/** Creates a call with the properties that the backlog reads. */
const call = (bytes = 0, options: CallOptions = {}): PoolCall => {
  const settings = callSettingsOf(options, settingsOf({ size: 4 }));
  return { id: ++lastId, priority: settings.priority, options: settings, bytes } as unknown as PoolCall;
};
const backlogOf = (queue: PoolOptions["queue"], size = 4): Backlog =>
  new Backlog(settingsOf({ size, ...(queue && { queue }) }));

describe("the backlog", () => {
  test("counts the items and bytes of waiting calls, over all its queues", () => {
    const backlog = backlogOf({});
    const calls = [call(10), call(20, { key: "a" }), call(30, { key: "b", priority: 1 })];
    for (const each of calls) backlog.add(each);
    expect([backlog.length, backlog.bytes]).toEqual([3, 60]);
    expect(backlog.take(backlog.queues[workerIndexOf("a", 4)]!)).toBe(calls[1]);
    backlog.add(calls[1]!);
    for (const each of calls) backlog.remove(each);
    backlog.remove(calls[0]!);
    expect([backlog.length, backlog.bytes]).toEqual([0, 0]);
  });

  test("with fail, refuses a call over the limit of items or bytes", () => {
    const backlog = backlogOf({ items: 2, bytes: 100, whenFull: "fail" });
    backlog.add(call(60));
    expect(() => backlog.admit(call(41))).toThrowError(expect.objectContaining({ code: "queue-full" }));
    expect(backlog.admit(call(40))).toBeUndefined();
    backlog.add(call(40));
    expect(() => backlog.admit(call())).toThrowError(expect.objectContaining({ code: "queue-full" }));
  });

  test("admits a call larger than the limit of bytes when no other call waits", () => {
    expect(backlogOf({ bytes: 100, whenFull: "fail" }).admit(call(1000))).toBeUndefined();
  });

  test("with dropNewest, drops the new call", () => {
    const backlog = backlogOf({ items: 1, whenFull: "dropNewest" });
    backlog.add(call());
    const late = call();
    expect(backlog.admit(late)).toBe(late);
  });

  test("with dropOldest, drops the oldest call of the lowest priority, with or without a key", () => {
    const backlog = backlogOf({ items: 3, whenFull: "dropOldest" });
    const keyed = call(0, { key: "a", priority: -1 });
    for (const each of [call(), keyed, call(0, { priority: -1 })]) backlog.add(each);
    expect(backlog.admit(call())).toBe(keyed);
  });
});
