// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the order of a worker's first steps: the answer to its first call, and the loads for later calls.

import { beforeEach, expect, test, vi } from "vitest";
import { loadsOverNetwork } from "#host";
import type { ParentEndpoint } from "../../src/host/host.js";
import { resource } from "../../src/resource/resource.js";
import { errors, leases } from "../../src/task/lazy-modules.js";
import { Server } from "../../src/task/server.js";
import { definitionOfTask, type TaskMap, withResources } from "../../src/task/task.js";
import { prepareResult } from "../../src/transfer/prepare-result.js";
import { type HelloSettings, Op } from "../../src/transport/protocol.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { gate } from "../fixtures/pools.js";

const settings: HelloSettings = {
  clearway: 1,
  concurrency: 1,
  metrics: false,
  reportHeap: false,
  ring: false,
  cancelCells: undefined,
  lifeline: "test",
};

const held = gate<string>();
const functions: TaskMap = {
  atOnce: () => 1,
  atHand: async () => (await (async () => 20)()) + 1,
  held: () => held.promise,
};
const names = Object.keys(functions);
const definitions = names.map((name) => definitionOfTask(name, functions[name]));

let log: string[];
let told = gate();

const endpoint: ParentEndpoint = {
  marked: true,
  greeting: settings,
  post(message) {
    const [op, , value] = message as [Op, number, unknown];
    if (op === Op.Ready) return;
    log.push(`${Op[op]} ${value}`);
    told.tell();
  },
  listen() {},
  onEnding() {},
  ignore() {},
  // With a call pending, a server is created or loaded right after `holdLifeline`.
  printed: () => undefined,
  holdLifeline: () => void log.push("lifeline"),
};

beforeEach(() => {
  log = [];
  told = gate();
  // One of the loads for later calls. Its log entry represents all of them.
  vi.spyOn(errors, "preload").mockImplementation(() => void log.push("preload"));
});

// Loads a fresh copy of the worker's bootstrap module, because a worker greets only once.
async function listening(name: string, tasks = functions): Promise<(message: unknown) => void> {
  const path = `../../src/task/bootstrap.ts?${name}`;
  const { receive } = (await import(/* @vite-ignore */ path)) as typeof import("../../src/task/bootstrap.js");
  let take: (message: unknown) => void = () => {};
  const listen: ParentEndpoint["listen"] = (heard) => {
    take = heard;
  };
  const names = Object.keys(tasks);
  const definitions = names.map((each) => definitionOfTask(each, tasks[each]));
  receive({ ...endpoint, listen }, { names, definitions, setup: undefined }, []);
  return take;
}

const call = (name: string): unknown[] => [Op.Call, 7, name, []];

test.each(["atOnce", "atHand"])("the result of %s is sent before the server is loaded", async (name) => {
  const take = await listening(name);
  take(call(name));
  await told.promise;
  await vi.waitFor(() => expect(log).toContain("lifeline"));
  expect(log.slice(0, 2)).toEqual([name === "atOnce" ? "Result 1" : "Result 21", "lifeline"]);
});

test.runIf(loadsOverNetwork)("an idle worker loads the lazy modules that need a request, but no server", async () => {
  useFakeTimers({ toFake: ["setTimeout"] });
  const take = await listening("resting");
  vi.runAllTimers();
  useRealTimers();
  expect(log).toEqual(["lifeline", "preload"]);
  take(call("atOnce"));
  expect(log.slice(2, 3)).toEqual(["Result 1"]);
});

test.runIf(!loadsOverNetwork)(
  "a worker without resources starts no timer when its lazy modules are local files",
  async () => {
    useFakeTimers({ toFake: ["setTimeout"] });
    await listening("plain");
    expect(vi.getTimerCount()).toBe(0);
    useRealTimers();
  },
);

test("an idle worker loads the lazy module that opens its tasks' resources", async () => {
  const leased = withResources({ one: resource({ open: () => 1 }) })(({ one }) => one);
  const asked = vi.spyOn(leases, "preload").mockImplementation(() => void log.push("leases"));
  useFakeTimers({ toFake: ["setTimeout"] });
  await listening("leasing", { leased });
  expect(asked).not.toHaveBeenCalled();
  vi.runAllTimers();
  useRealTimers();
  expect(log).toEqual(["lifeline", "leases", "preload"]);
});

test("the server is loaded before a pending first call ends", async () => {
  const take = await listening("held");
  take(call("held"));
  await vi.waitFor(() => expect(log).toContain("lifeline"));
  expect(log).not.toContain("Result done");
  held.tell("done");
  await told.promise;
  expect(log).toContain("Result done");
});

test.each(["atOnce", "atHand"])(
  "the result of %s is sent by a server, too, before the server loads lazy modules",
  async (name) => {
    const server = new Server(endpoint, names, definitions, settings, prepareResult);
    server.receive(call(name));
    await vi.waitFor(() => expect(log).toContain("preload"));
    expect(log).toEqual([name === "atOnce" ? "Result 1" : "Result 21", "preload"]);
  },
);

test("a server loads lazy modules while its first call is pending", async () => {
  const unsettled = definitionOfTask("unsettled", () => new Promise(() => {}));
  new Server(endpoint, ["unsettled"], [unsettled], settings, prepareResult).receive(call("unsettled"));
  await vi.waitFor(() => expect(log).toEqual(["preload"]));
});
