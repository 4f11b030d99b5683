// SPDX-License-Identifier: MIT OR Apache-2.0
import { expose, resource, task, testContext, withResources } from "clearway/worker";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { ParentEndpoint } from "../../src/host/host.js";
import { Bootstrap } from "../../src/task/expose.js";
import { definitionOfTask } from "../../src/task/task.js";
import { type HelloSettings, Op } from "../../src/transport/protocol.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { gate } from "../fixtures/pools.js";

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

// The order of a worker's first steps: the answer to its first call, then what only later calls need.
const settings: HelloSettings = {
  clearway: 1,
  concurrency: 1,
  metrics: false,
  reportHeap: false,
  ring: true,
  cancelCells: undefined,
  lifeline: "test",
  warnings: false,
};

let log: string[];

/** Waits for microtasks only, because the timers of a worker must not fire. */
async function logged(...expected: string[]): Promise<void> {
  for (let turn = 0; turn < 100 && log.length < expected.length; turn++) await undefined;
  expect(log).toEqual(expected);
}

beforeEach(() => {
  log = [];
});

/** Starts a worker with three tasks, and returns the function that its messages go to. */
async function started(held = gate<string>()): Promise<(message: unknown) => void> {
  let take: (message: unknown) => void = () => {};
  const endpoint: ParentEndpoint = {
    marked: true,
    greeting: settings,
    post(message) {
      const [op, , value] = message as [Op, number, unknown];
      log.push(op === Op.Ready ? "Ready" : op === Op.Ring ? "Ring" : `${Op[op]} ${value}`);
    },
    listen(heard) {
      take = (message) => heard.message(message);
    },
    onEnding() {},
    ignore() {},
    printed: () => undefined,
    holdLifeline: () => void log.push("lifeline"),
  };
  const tasks = {
    atOnce: () => 1,
    atHand: async () => (await (async () => 20)()) + 1,
    held: () => held.promise,
  };
  const names = Object.keys(tasks);
  const definitions = Object.entries(tasks).map(([name, task]) => definitionOfTask(name, task));
  new Bootstrap().receive(endpoint, { names, definitions, setup: undefined }, []);
  await logged("Ready");
  return take;
}

const call = (name: string): unknown[] => [Op.Call, 7, name, []];

test.each([
  ["atOnce", "Result 1"],
  ["atHand", "Result 21"],
])("the result of %s is sent before the worker takes its lock and offers a ring", async (name, result) => {
  const take = await started();
  take(call(name));
  await logged("Ready", result, "lifeline", "Ring");
});

test("a worker takes its lock and offers a ring while its first call is pending", async () => {
  const held = gate<string>();
  const take = await started(held);
  take(call("held"));
  await logged("Ready", "lifeline", "Ring");
  held.tell("done");
  await logged("Ready", "lifeline", "Ring", "Result done");
});

test.runIf(!hasProcesses)("an idle worker in a browser takes its lock", async () => {
  useFakeTimers({ toFake: ["setTimeout"] });
  await started();
  vi.runAllTimers();
  expect(log).toEqual(["Ready", "lifeline", "Ring"]);
});

test.runIf(hasProcesses)("a worker in Node starts no timer", async () => {
  useFakeTimers({ toFake: ["setTimeout"] });
  await started();
  expect(vi.getTimerCount()).toBe(0);
});
