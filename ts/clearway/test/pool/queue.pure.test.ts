// SPDX-License-Identifier: MIT OR Apache-2.0

import { describe, expect, test } from "vitest";
import { PriorityQueue, type Queued } from "../../src/pool/schedule/backlog.js";
import fc from "../fixtures/fast-check.js";

// The model: one plain list, sorted by what the queue promises.
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
  test("gives higher priorities first, and equal ones in their order, whatever is added, taken, put back and removed", () => {
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

  test("keeps its order over thousands of items, where it trims what was taken", () => {
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
