// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose, resource, task, testContext, withResources } from "clearway/worker";
import { describe, expect, test } from "vitest";
import { definitionOfTask } from "../../src/task/task.js";

describe("a task module on the main thread", () => {
  test("returns its tasks as callable functions", async () => {
    const tasks = expose({
      add: (a: number, b = 1) => a + b,
      twice: task(async ({ progress }, value: number) => {
        progress("half");
        return value * 2;
      }),
    });
    expect(tasks.add(1)).toBe(2);
    expect(await tasks.twice(testContext(), 4)).toBe(8);
    expect(expose({})).toEqual({});
  });

  test("works for the fixtures, too, whose generators can be read", async () => {
    const { default: tasks } = await import("../fixtures/streams.tasks.js");
    const seen: number[] = [];
    for await (const each of tasks.count(3)) seen.push(each);
    expect(seen).toEqual([0, 1, 2]);
    const letters = (async function* () {
      yield* [1, 2, 3];
    })();
    expect(await tasks.take(testContext(), letters, 2)).toEqual([1, 2]);
  });
});

describe("testContext()", () => {
  test("is not cancelled, and ignores progress", () => {
    const context = testContext();
    expect([context.cancelled, context.signal.aborted]).toEqual([false, false]);
    expect(context.progress(1)).toBeUndefined();
  });

  test("accepts the test's signal, progress listener and resources", () => {
    const controller = new AbortController();
    const told: unknown[] = [];
    const context = testContext({ signal: controller.signal, progress: (value) => told.push(value), db: { rows: 3 } });
    context.progress("a");
    expect(told).toEqual(["a"]);
    expect(context.db.rows).toBe(3);
    controller.abort("enough");
    expect([context.cancelled, context.signal.reason]).toEqual([true, "enough"]);
  });

  test("can be passed to a task with resources", async () => {
    const leased = withResources({ db: resource({ open: () => ({ query: (text: string) => `real ${text}` }) }) });
    const ask = leased(async ({ db }, text: string) => db.query(text));
    expect(await ask(testContext({ db: { query: (text: string) => `fake ${text}` } }), "x")).toBe("fake x");
  });
});

describe("a value that is not a task is refused by name:", () => {
  test.each([
    ['the task "five"', () => expose({ five: 5 as never })],
    ["task must be a function", () => task(5 as never)],
    ["moveSearchLimit", () => task({ moveSearchLimit: -1 }, () => 1)],
    ["resource.open", () => resource({} as never)],
    ["resource.idleMs", () => resource({ open: () => 1, idleMs: -1 })],
    ["signal", () => withResources({ signal: resource({ open: () => 1 }) })],
    ["withResources()", () => withResources({ db: {} as never })],
  ])("%s", (shown, act) => {
    expect(act).toThrowError(
      expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(shown) }),
    );
  });
});

test("a generator function is a stream task, and any other function is not", () => {
  const kindOf = (fn: unknown): string => definitionOfTask("t", fn).kind;
  expect(kindOf(() => 1)).toBe("function");
  expect(kindOf(async () => 1)).toBe("function");
  expect(kindOf(function* () {})).toBe("stream");
  expect(kindOf(async function* () {})).toBe("stream");
  expect(kindOf(task(async function* () {}))).toBe("stream");
  expect(kindOf(task({ moveSearchLimit: 5 }, () => 1))).toBe("function");
});
