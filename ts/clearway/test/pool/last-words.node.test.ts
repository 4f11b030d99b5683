// SPDX-License-Identifier: MIT OR Apache-2.0
// Node reports a worker's uncaught error through a separate channel, which may overtake the worker's earlier messages.
import childProcess, { type ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { listenTo } from "../../src/channel/transport/port-like.js";
import { adopt } from "../../src/host/node.js";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

const told = () => {
  const words: unknown[] = [];
  const say =
    (what: string) =>
    (...values: unknown[]) =>
      void words.push([what, ...values]);
  return { words, say };
};

test("a worker's uncaught error is reported after its messages, and before its exit", async () => {
  const { words, say } = told();
  const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
  const events = { message: say("message"), messageError: say("unreadable"), error: say("error"), exit: say("exit") };
  const handle = adopt(worker, events);
  const stray = new Error("stray");
  worker.emit("error", stray);
  worker.emit("message", "ready");
  await handle.terminate();
  expect(words).toEqual([
    ["message", "ready"],
    ["error", stray],
    ["exit", expect.any(Number)],
  ]);
});

test("the end of a channel over a worker is reported in the same order", () => {
  const { words, say } = told();
  const worker = Object.assign(new EventEmitter(), { postMessage: () => {} });
  const listeners = { message: say("message"), unreadable: say("unreadable"), gone: say("gone"), error: say("error") };
  const stop = listenTo(worker, listeners);
  const stray = new Error("stray");
  worker.emit("error", stray);
  worker.emit("message", "hello");
  worker.emit("exit", 1);
  expect(words).toEqual([
    ["message", "hello"],
    ["error", stray],
    ["gone", { exitCode: 1 }],
  ]);
  stop();
  expect(worker.eventNames()).toEqual([]);
});

test("the end of a child process is reported although a process that it has started prints in every turn", async () => {
  const forked = vi.spyOn(childProcess, "fork");
  onTestFinished(() => forked.mockRestore());
  const options = { processes: true, stdout: { write() {} } };
  const made = testPool<typeof import("../fixtures/process.tasks.js")>(builtUrl("process"), options);
  await made.ready();
  const child = forked.mock.results[0]?.value as ChildProcess;
  const exited = once(child, "exit");
  let settled = false;
  const lost = reasonOf(made.call.exit(7)).finally(() => {
    settled = true;
  });
  await exited;
  // The other process has inherited the pipe. It prints until the test ends.
  for (let turns = 0; turns < 1000 && !settled; turns++) {
    child.stdout?.emit("data", Buffer.from("."));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(settled).toBe(true);
  expect(await lost).toMatchObject({ code: "worker-exited", message: expect.stringContaining("exit code 7") });
});
