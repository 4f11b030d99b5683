// SPDX-License-Identifier: MIT OR Apache-2.0
// A task's output may still be in flight when the task is answered. It must arrive before its worker or the process ends.
import childProcess, { type ChildProcess, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { listenTo } from "../../src/channel/transport/port-like.js";
import { adopt } from "../../src/host/node.js";
import { builtUrl, plainUrl, reasonOf, testPool } from "../fixtures/pools.js";

const lines = 1_000;

async function printed(source: string): Promise<number> {
  const folder = await mkdtemp(fileURLToPath(new URL("../fixtures/built/output-", import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = `${folder}/program.mjs`;
  const head = `import { pool, run } from "clearway"; const url = new URL(${JSON.stringify(plainUrl.href)});\n`;
  await writeFile(file, head + source);
  const child = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (data) => {
    output += data;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return output.split("\n").filter((line) => line.startsWith("line ")).length;
}

test.each([
  ["a script ends", `await pool(url, { size: 1 }).call.print(${lines});`, lines],
  [
    "a script with a warm pool ends",
    `const p = pool(url, { size: 1 }); await p.ready(); await p.call.print(${lines});`,
    lines,
  ],
  [
    "a script whose second call prints ends",
    `const p = pool(url, { size: 1 }); await p.call.print(1); await p.call.print(${lines - 1});`,
    lines,
  ],
  ["a pool is closed", `const p = pool(url, { size: 1 }); await p.call.print(${lines}); await p.close();`, lines],
  [
    "a pool is closed after its second call",
    `const p = pool(url, { size: 1 }); await p.call.print(0); await p.call.print(${lines}); await p.close();`,
    lines,
  ],
  ["run() has given its result", `await run(url).call.print(${lines});`, lines],
  [
    "a worker is recycled",
    `const p = pool(url, { size: 1, recycle: { tasks: 1 } }); for (let at = 0; at < 3; at++) await p.call.print(${lines}); await p.close();`,
    3 * lines,
  ],
])("all output of a task arrives when %s", async (_when, source, count) => {
  expect(await printed(source)).toBe(count);
});

// Node reports a worker's uncaught error through a separate channel, which may overtake the worker's earlier messages.
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
