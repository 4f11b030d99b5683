// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { Listener } from "../../src/channel/endpoint/event-stream.js";
import { Consumer } from "../../src/stream/consumer.js";
import { Producer } from "../../src/stream/producer.js";
import { Poller } from "../../src/transport/ring/poller.js";
import { TurnBudget, turnBudgetMs } from "../../src/transport/turn-budget.js";
import { FakeTurns } from "./fake-turns.js";
import { settle } from "./timeline.js";

const values = 3000;
const perMessage = 1000;

/** A path that works on many values. `work(count)` is the app's own code for that many values, which takes time. */
type Path = (turns: FakeTurns, budget: TurnBudget, work: (count: number) => void) => () => Promise<void> | void;

/** Lets three messages of 1,000 values arrive, each in a turn of its own. */
function messages(arrive: (value: number) => void): () => void {
  let sent = 0;
  return () => {
    for (let each = 0; each < perMessage && sent < values; each++) arrive(sent++);
  };
}

const reader =
  (isBatch: boolean): Path =>
  (_turns, budget, work) => {
    const consumer = new Consumer({ items: 65_536, bytes: 1e9 }, { grant: () => {}, cancel: () => {} }, budget);
    const read = () => (isBatch ? consumer.nextBatch() : consumer.next());
    void (async () => {
      for (let step = await read(); !step.done; step = await read())
        work(Array.isArray(step.value) ? step.value.length : 1);
    })();
    return messages((value) => expect(consumer.arrived(value, 0)).toBe(true));
  };

const paths: Record<string, Path> = {
  "a reader of values, in a pool or in a task": reader(false),
  "a reader of arrays": reader(true),
  "a reader of a channel's events": (_turns, budget, work) => {
    const owner = {
      decode: (each: number) => each,
      grant: () => {},
      cancel: () => {},
      done: () => {},
      onDrop: undefined,
    };
    const listener = new Listener<number>(owner, { items: 65_536, bytes: 1e9 }, budget);
    void (async () => {
      for await (const _value of listener) work(1);
    })();
    return messages((value) => listener.arrived(value, 0, 0, 0));
  },
  "the source of a stream into a task": (_turns, budget, work) => {
    const source = (async function* () {
      for (let at = 0; at < values; at++) {
        work(1);
        yield at;
      }
    })();
    const wire = {
      transport: { scheduled: false, flush: () => {}, hurry: () => {} },
      chunk: () => 0,
      end: () => {},
      fail: () => {},
    };
    const producer = new Producer(source, wire, budget);
    let granted = false;
    return () => {
      if (!granted) producer.grant(65_536, 1e9);
      granted = true;
    };
  },
};

/** Runs a path to its end. Returns the time of each turn in milliseconds, and the number of values that the app has handled. */
async function turnsOf(path: Path, valueMs: number): Promise<{ turnMs: number[]; handled: number; largest: number }> {
  const turns = new FakeTurns();
  let handled = 0;
  let largest = 0;
  const message = path(turns, new TurnBudget(turns), (count) => {
    handled += count;
    largest = Math.max(largest, count);
    turns.nowMs += count * valueMs;
  });
  const turnMs: number[] = [];
  for (let idle = 0; idle < 3; ) {
    const before = turns.nowMs;
    if (!turns.turn()) {
      idle++;
      await message();
    } else idle = 0;
    // A turn ends when no microtask is left.
    for (let last = -1; last !== handled; ) {
      last = handled;
      for (let each = 0; each < 20; each++) await settle();
    }
    turnMs.push(turns.nowMs - before);
  }
  return { turnMs, handled, largest };
}

describe.each(Object.entries(paths))("%s", (_name, path) => {
  test.each([0.001, 0.01, 0.3, 5])(
    "ends each turn at most one step of the app over the budget, at %d ms a value",
    async (valueMs) => {
      const { turnMs, handled, largest } = await turnsOf(path, valueMs);
      expect(handled).toBe(values);
      const limitMs = turnBudgetMs + largest * valueMs + 1e-6;
      expect(turnMs.filter((each) => each > limitMs)).toEqual([]);
    },
  );
});

test("what a turn has no time for comes first in the next one, before what goes on", () => {
  const turns = new FakeTurns();
  const budget = new TurnBudget(turns);
  let log = "";
  for (const name of "abc") {
    const go = (): void => {
      if (budget.isSpent) return budget.pause(go);
      log += name;
      turns.nowMs += turnBudgetMs;
      budget.pause(go);
    };
    go();
  }
  for (let each = 0; each < 6; each++) turns.turn();
  expect(log).toBe("aabcabc");
});

test("each of several sources has one value in a turn, although the first one uses up the time of all turns", async () => {
  const turns = new FakeTurns();
  const budget = new TurnBudget(turns);
  let log = "";
  const sourceOf = function* (name: string): Generator<number, void> {
    for (;;) {
      log += name;
      turns.nowMs += turnBudgetMs;
      yield 0;
    }
  };
  const wire = {
    transport: { scheduled: false, flush: () => {}, hurry: () => {} },
    chunk: () => 0,
    end: () => {},
    fail: () => {},
  };
  for (const name of "abc") new Producer(sourceOf(name), wire, budget).grant(65_536, 1e9);
  for (let each = 0; each < 3; each++) {
    log += "|";
    turns.turn();
    await settle();
  }
  expect(log).toBe("a|abc|abc|abc");
});

test("a turn in which the rings took 2 ms polls no further ring, and the next turn begins with those that are left", () => {
  const turns = new FakeTurns();
  const poller = new Poller(turns);
  const polls: number[] = [];
  const rings = Array.from({ length: 6 }, (_, index) => {
    let frames = 3;
    return {
      drain: () => {
        if (frames === 0) return false;
        frames--;
        turns.nowMs += 0.9;
        polls.push(index);
        return true;
      },
      park: () => true,
      unpark: () => {},
      expects: () => true,
      blocked: false,
      waiting: false,
    };
  });
  for (const ring of rings) poller.add(ring).sent();
  const turnMs: number[] = [];
  for (let before = turns.nowMs; polls.length < 18 && turns.turn(); before = turns.nowMs)
    turnMs.push(turns.nowMs - before);
  expect(polls.slice(0, 6).sort()).toEqual([0, 1, 2, 3, 4, 5]);
  expect(polls).toHaveLength(18);
  expect(turnMs.filter((each) => each > turnBudgetMs + 0.9)).toEqual([]);
});
