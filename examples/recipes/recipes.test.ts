// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
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

test("the recipe for data that workers fetch prints what its comments say", async () => {
  expect(await outputOf("./recipes/dist/fetch.js")).toEqual([
    "[ { name: 'person 7', city: 'Turin' } ]",
    "2000000 2000000 0",
    "the user left",
  ]);
});

test("a task runs in a unit test without a worker", async () => {
  expect(await outputOf("./recipes/dist/unit-test.js")).toEqual(["4 [ 0, 0.25, 0.5, 0.75, 1 ]"]);
});

test("the recipes for apps print what their comments say", async () => {
  expect(await outputOf("./recipes/dist/hash.js")).toEqual(["14d20d18d7f0fed186b420fe6fd31991"]);
  expect(await outputOf("./recipes/dist/fake-timers.js")).toEqual([
    "timeout",
    "a minute of the app's own timers takes no time",
  ]);
  expect(await outputOf("./recipes/dist/blocking.js")).toEqual(["true 42"]);
});

test("a loop with pauses is cancelled where no memory is shared, and its worker goes on", async () => {
  expect(await outputOf("./recipes/dist/loop.js")).toEqual(["started", "first", "second", "exited"]);
});

describe("the recipe for a server", () => {
  let server: ChildProcess;
  let url: string;

  beforeEach(async () => {
    const program = fileURLToPath(new URL("./dist/server.js", import.meta.url));
    server = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    [url] = (await once(createInterface({ input: server.stdout! }), "line")) as [string];
  });
  afterEach(() => server.kill("SIGKILL"));

  const metrics = async (): Promise<string> => (await fetch(`${url}metrics`)).text();

  test("a client that disconnects cancels its call", async () => {
    const client = new AbortController();
    const answer = fetch(`${url}spin`, { signal: client.signal });
    await expect.poll(metrics).toContain('clearway_pool_calls_open{pool="work"} 1');
    client.abort();
    await expect(answer).rejects.toThrow("aborted");
    await expect.poll(metrics).toContain('clearway_pool_calls_total{pool="work",task="spin",outcome="cancelled"} 1');
  });

  test("a request beyond the queue is answered with 503, and the others go on", async () => {
    const clients = new AbortController();
    const answers = ["spin", "spin", "spin"].map((path) => fetch(`${url}${path}`, { signal: clients.signal }));
    const ended = Promise.allSettled(answers);
    const { status } = await Promise.race(answers);
    expect(status).toBe(503);
    expect(await metrics()).toContain('clearway_pool_calls_open{pool="work"} 2');
    clients.abort();
    await ended;
  });

  test("a stream's values are the body of an answer, in their order", async () => {
    const articles = (await (await fetch(`${url}articles?10000`)).text()).split("\n");
    expect(articles.map((article) => parseInt(article, 10))).toEqual(
      [...Array(10_000).keys()].map((at) => at + 1).concat(NaN),
    );
  });

  test("a stream waits for a client that does not read, and ends when the client disconnects", async () => {
    // 26 MB: more than the sockets hold.
    const client = request(`${url}articles?15000`).end();
    const [response] = (await once(client, "response")) as [IncomingMessage];
    response.pause();
    // Without back-pressure, the server would collect all articles meanwhile, and the call would end.
    for (let turn = 0; turn < 150; turn++) expect(await metrics()).toContain('calls_open{pool="work"} 1');
    client.destroy();
    await expect
      .poll(metrics)
      .toContain('clearway_pool_calls_total{pool="work",task="articles",outcome="cancelled"} 1');
  });

  test("SIGTERM lets the open calls finish, and then the process ends by itself", async () => {
    const answer = fetch(`${url}search?b`);
    await expect.poll(metrics).toMatch(/calls_open\{pool="work"\} 1|task="search",outcome="ok"\} 1/);
    server.kill("SIGTERM");
    expect(await (await answer).json()).toEqual(["banana", "blackberry"]);
    expect(await once(server, "exit")).toEqual([0, null]);
  });
});
