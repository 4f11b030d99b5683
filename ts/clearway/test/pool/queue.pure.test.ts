// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import type { PoolCall } from "../../src/pool/call/call.js";
import { type CallOptions, callSettingsOf, type PoolOptions, settingsOf } from "../../src/pool/options.js";
import { Backlog, PriorityQueue, type Queued } from "../../src/pool/schedule/backlog.js";
import { workerIndexOf } from "../../src/pool/worker-of-key.js";
import fc from "../fixtures/fast-check.js";

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
