// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the order of a worker's first steps: the answer to its first call, then what only later calls need.

import { beforeEach, expect, test, vi } from "vitest";
import type { ParentEndpoint } from "../../src/host/host.js";
import { Bootstrap } from "../../src/task/expose.js";
import { definitionOfTask } from "../../src/task/task.js";
import { type HelloSettings, Op } from "../../src/transport/protocol.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { gate } from "../fixtures/pools.js";

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
  useRealTimers();
  expect(log).toEqual(["Ready", "lifeline", "Ring"]);
});

test.runIf(hasProcesses)("a worker in Node starts no timer", async () => {
  useFakeTimers({ toFake: ["setTimeout"] });
  await started();
  expect(vi.getTimerCount()).toBe(0);
  useRealTimers();
});
