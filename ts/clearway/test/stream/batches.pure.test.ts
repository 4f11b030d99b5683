// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { batchItemsMax, Consumer } from "../../src/stream/consumer.js";
import { weightMax, weightOf } from "../../src/stream/producer.js";
import { CodedValue, Form } from "../../src/transfer/crossing.js";
import { TurnBudget, turnBudgetMs } from "../../src/transport/turn-budget.js";
import fc from "../fixtures/fast-check.js";
import { revoked } from "../fixtures/misdeeds.js";
import { FakeTurns } from "./fake-turns.js";
import { Log, settle } from "./timeline.js";

/** Creates a consumer whose wire logs `+n` for a grant of n items, and `!` for a request to end the producer. */
function make(items = 4000): { consumer: Consumer; wire: Log; turns: FakeTurns } {
  const wire = new Log();
  const turns = new FakeTurns();
  const consumer = new Consumer(
    { items, bytes: 1e9 },
    { grant: (granted) => wire.add(`+${granted}`), cancel: () => wire.add("!") },
    new TurnBudget(turns),
  );
  return { consumer, wire, turns };
}

/** Lets values arrive, as frames of one message do. */
function message(consumer: Consumer, ...values: unknown[]): void {
  for (const value of values) expect(consumer.arrived(value, 0)).toBe(true);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const step = (value: unknown) => ({ done: false, value });

describe("a reader of arrays", () => {
  test("gets the values of a message in one array, and waits for no further message", async () => {
    const { consumer } = make();
    const first = consumer.nextBatch();
    message(consumer, "a", "b", "c");
    expect(await first).toEqual(step(["a", "b", "c"]));
    const second = consumer.nextBatch();
    message(consumer, "d");
    expect(await second).toEqual(step(["d"]));
  });

  test("gets everything that has arrived since it read last", async () => {
    const { consumer } = make();
    const first = consumer.nextBatch();
    message(consumer, "a");
    await first;
    message(consumer, "b", "c");
    message(consumer, "d");
    expect(await consumer.nextBatch()).toEqual(step(["b", "c", "d"]));
  });

  test("gets at most 1,024 values at once", async () => {
    const { consumer } = make();
    const first = consumer.nextBatch();
    message(consumer, ...upTo(1024));
    await first;
    message(consumer, ...upTo(1024));
    message(consumer, ...upTo(512));
    expect(await consumer.nextBatch()).toEqual(step(upTo(batchItemsMax)));
    expect(await consumer.nextBatch()).toEqual(step(upTo(512)));
  });

  test("starts the producer, and grants it the same credit as a reader of values", async () => {
    const { consumer, wire } = make(4);
    const first = consumer.nextBatch();
    expect(wire.text).toBe("+4");
    message(consumer, "a", "b", "c", "d");
    await first;
    await consumer.nextBatch();
    expect(wire.text).toBe("+4+2+2");
  });

  test("gets an array that ends when the producer gets more credit, so that the producer works while the array is read", async () => {
    const { consumer, wire } = make(8);
    const first = consumer.nextBatch();
    message(consumer, ..."abcdef");
    expect(await first).toEqual(step([..."abcd"]));
    expect(wire.text).toBe("+8+4");
    expect(await consumer.nextBatch()).toEqual(step([..."ef"]));
    expect(wire.text).toBe("+8+4");
  });

  test("gets the end value after the last array, and undefined afterwards", async () => {
    const { consumer } = make();
    const first = consumer.nextBatch();
    message(consumer, "a", "b");
    consumer.ended("end");
    expect(await first).toEqual(step(["a", "b"]));
    expect(await consumer.nextBatch()).toEqual({ done: true, value: "end" });
    expect(await consumer.nextBatch()).toEqual({ done: true, value: undefined });
  });

  test("gets the failure after the values that arrived before it", async () => {
    const { consumer } = make();
    const first = consumer.nextBatch();
    message(consumer, "a", "b");
    consumer.failed(new Error("x"));
    expect(await first).toEqual(step(["a", "b"]));
    await expect(consumer.nextBatch()).rejects.toThrow("x");
  });

  test("settles the pending read when it leaves, and drops what it has not read", async () => {
    const { consumer, wire } = make();
    const pending = consumer.nextBatch();
    const left = consumer.return("mine");
    message(consumer, "a");
    consumer.ended("end");
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await left).toEqual({ done: true, value: "mine" });
    expect(wire.text).toBe("+1024!");
  });

  test("gets one array a turn when it takes long for each", async () => {
    const { consumer, turns } = make();
    const log = new Log();
    const first = consumer.nextBatch();
    message(consumer, "a", "b");
    const all = (async () => {
      for (let each = await first; !each.done; each = await consumer.nextBatch()) {
        log.add(`${(each.value as string[]).join("")} `);
        turns.nowMs += turnBudgetMs;
      }
    })();
    await settle();
    message(consumer, "c", "d");
    await settle();
    expect(log.text).toBe("ab ");
    turns.turn();
    await settle();
    expect(log.text).toBe("ab cd ");
    consumer.ended(undefined);
    while (turns.turn()) await settle();
    await all;
  });

  test("gets a table in an array of its own, and fails only for a table that cannot be read", async () => {
    const { consumer } = make();
    const table = new CodedValue(Form.table, { version: "none" });
    const first = consumer.nextBatch();
    message(consumer, "a", table, "b", "c");
    expect(await first).toEqual(step(["a"]));
    await expect(consumer.nextBatch()).rejects.toThrow();
    expect(await consumer.nextBatch()).toEqual(step(["b", "c"]));
  });

  test("and a reader of values share a stream: each value is read once, in order, at any order of reads", async () => {
    const order = fc.array(fc.constantFrom("value", "array", "arrive", "turn"), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(order, fc.boolean(), async (events, fails) => {
        const { consumer, turns } = make();
        const read = [consumer.next()];
        let sent = 0;
        for (const event of events) {
          if (event === "value") read.push(consumer.next());
          else if (event === "array") read.push(consumer.nextBatch());
          else if (event === "arrive") message(consumer, sent++, sent++, sent++);
          else {
            turns.nowMs += 1;
            turns.turn();
            await settle();
          }
        }
        if (fails) consumer.failed(new Error("x"));
        else consumer.ended("end");
        for (let more = 0; more <= sent; more++) read.push(consumer.next());
        do await settle();
        while (turns.turn());
        const steps = await Promise.allSettled(read);
        const values = steps.flatMap((each) =>
          each.status === "fulfilled" && !each.value.done ? [each.value.value].flat() : [],
        );
        expect(values).toEqual(upTo(sent));
        expect(steps.filter(({ status }) => status === "rejected")).toHaveLength(fails ? 1 : 0);
      }),
    );
  });
});

const row = { id: 1, x: 0.5, name: "row" };
const rows = (count: number): object[] => Array.from({ length: count }, () => ({ ...row }));
const ring: unknown[] = [];
ring.push(ring);

describe("the weight of a stream's value", () => {
  test.each([
    ["a number", 1],
    ["a short text", "text"],
    ["a function", () => 1],
    ["a small object", row],
    ["binary memory, which the transport counts", new Uint8Array(100_000)],
    ["an object with binary memory", { bytes: new Float64Array(10_000), buffer: new ArrayBuffer(5000) }],
    [
      "an object that cannot be read",
      {
        rows: rows(1000),
        get fails() {
          throw new Error("no");
        },
      },
    ],
    ["a revoked proxy", revoked()],
    ["collections whose own iterators never end", [endless([1]), endless(new Map([[1, 2]])), endless(new Set([1]))]],
  ])("is 0 for %s", (_name, value) => {
    expect(weightOf(value)).toBe(0);
  });

  test.each([
    ["a long text", "x".repeat(5000), 5000],
    ["texts in an object", { a: "x".repeat(5000) }, 5064],
    ["an array of numbers", Array(1000).fill(1), 64_000],
    ["an array of objects", rows(100), 100 * (4 * 64 + 3)],
    ["a map", new Map(rows(50).map((each, at) => [at, each])), 50 * (5 * 64 + 3)],
    ["a set", new Set(Array.from({ length: 100 }, (_, at) => at)), 6400],
    ["a huge text, at most the default window", "x".repeat(3 << 20), weightMax],
    ["a huge array, at most the default window", Array(1e6).fill(1), weightMax],
    ["a value that contains itself", ring, weightMax],
  ])("counts 64 bytes for each node and the length of each text: %s", (_name, value, bytes) => {
    expect(weightOf(value)).toBe(bytes);
  });
});

test("weighing an object with many properties reads at most 10,000 of them before it stops", () => {
  let reads = 0;
  const get = (): number => ++reads;
  const wide = Object.defineProperties(
    {},
    Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { enumerable: true, get }])),
  );
  expect(weightOf(wide)).toBe(weightMax);
  expect(reads).toBe(10_001);
});

function endless(collection: object): object {
  const forever = function* (): Generator<number> {
    for (;;) yield 1;
  };
  const forEach = (): void => {
    throw new Error("not to be called");
  };
  return Object.assign(collection, { [Symbol.iterator]: forever, forEach });
}
