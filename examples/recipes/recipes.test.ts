// SPDX-License-Identifier: MIT OR Apache-2.0
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { outputOf } from "../output-of.js";

const config = fileURLToPath(new URL("./tsconfig.json", import.meta.url));

beforeAll(() => outputOf("../node_modules/typescript/bin/tsc", "-p", config));

test("the recipes print what their comments say", async () => {
  expect(await outputOf("./recipes/dist/main.js")).toEqual([
    "0 8000000",
    "would-copy",
    "8000000 0",
    "the user left",
    "[ undefined, [ 'banana', 'blackberry' ] ]",
    "timeout",
    "0 %",
    "25 %",
    "50 %",
    "75 %",
    "100 %",
    "line 1",
    "100000",
    "10",
    "1000",
    "fulfilled true",
    "[ 10, 15 ]",
    "[ 'running', 'urgent', 'later' ]",
    "SyntaxError expected an object bad-input",
    "worker-exited",
    "10",
    "[ 'cherry' ]",
    "true",
  ]);
});

test("the recipes for tasks that run many times print what their comments say", async () => {
  expect(await outputOf("./recipes/dist/many.js")).toEqual([
    "[ [ 'apple', 'apricot' ], [ 'banana', 'blackberry' ], [ 'cherry' ] ]",
    "{ number: 1 }",
    "1 of 3",
    "2 of 3",
    "3 of 3",
    "true",
    "[ 'rate 1.5', 'rate 1.5' ]",
    "broadcast-failed [ 0, 1 ]",
    "worker 0 has started",
    "no call waits",
    "worker 0 has exited",
    "queue-full",
    "[ 'apple', 'apricot' ]",
  ]);
});

test("the recipe for workers that are child processes prints what its comments say", async () => {
  expect(await outputOf("./recipes/dist/processes.js")).toEqual([
    "worker-exited: the signal SIGSEGV ended the worker's process",
    "[ 'cherry' ]",
  ]);
});

test("the recipes for functions, objects and class instances print what their comments say", async () => {
  expect(await outputOf("./recipes/dist/callbacks.js")).toEqual(["[ 'a.txt', 'c.txt' ]", "2", "3.34 + 3.33 + 3.33"]);
});

test("the recipes for combined modules and for async contexts print what their comments say", async () => {
  expect(await outputOf("./recipes/dist/modules.js")).toEqual([
    "2.50 + 2.50 true",
    "request 7 a.txt",
    "request 7",
    "request 7: done",
  ]);
});

test("a task runs in a unit test without a worker", async () => {
  expect(await outputOf("./recipes/dist/unit-test.js")).toEqual(["4 [ 0, 0.25, 0.5, 0.75, 1 ]"]);
});
