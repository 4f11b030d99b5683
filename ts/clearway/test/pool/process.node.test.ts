// SPDX-License-Identifier: MIT OR Apache-2.0
import childProcess, { type ChildProcess, execFile } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { readdirSync } from "node:fs";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connect } from "../../src/channel/endpoint/endpoint.js";
import { listenTo } from "../../src/channel/transport/port-like.js";
import { Post, portMark } from "../../src/channel/transport/port-message.js";
import { portTransport } from "../../src/channel/transport/port-transports.js";
import { writeHello } from "../../src/channel/wire/frame.js";
import { inheritedFlags, processEnvironment } from "../../src/host/node/options.js";
import { adopt } from "../../src/host/node.js";
import { builtUrl, type Plain, plainUrl, reasonOf, testPool, warmed } from "../fixtures/pools.js";
import { outcomeOf } from "../fixtures/task-folder.js";

const program = (source: string) => outcomeOf(plainUrl, source);

describe("a script exits by itself", () => {
  test.each([
    ["with a pool that it never used", `pool(url, { size: 2 }); console.log("end");`, "end"],
    ["with an idle pool that it used", `const p = pool(url, { size: 2 }); console.log(await p.call.add(1, 2));`, "3"],
    [
      "with a stream that it no longer reads",
      `const p = pool(url, { size: 1, window: { items: 1 } }); const s = p.call.numbers(100);
       console.log((await s.next()).value); globalThis.kept = s;`,
      "0",
    ],
    [
      "with a stream that it never read",
      `const p = pool(url); await p.ready(); p.call.numbers(3); console.log("end");`,
      "end",
    ],
    ["after run()", `console.log(await run(url).call.add(2, 2));`, "4"],
  ])("%s", async (_name, source, output) => {
    expect(await program(source)).toEqual({ code: 0, output });
  });

  test.each([
    ["a call of a cold pool", `pool(url, { size: 1 }).call.add(1, 2).then(console.log);`, "3"],
    [
      "a call with a key of a cold pool",
      `pool(url, { size: 2 }).with({ key: "k" }).call.add(1, 2).then(console.log);`,
      "3",
    ],
    ["ready()", `pool(url, { size: 1 }).ready().then(() => console.log("ready"));`, "ready"],
    [
      "a call of a warm pool",
      `const p = pool(url, { size: 1 }); await p.ready(); p.call.spin(20).then(console.log);`,
      "20",
    ],
    [
      "a stream's next value",
      `const p = pool(url); await p.ready(); const s = p.call.numbers(2); await s.next(); s.next().then((r) => console.log(r.value));`,
      "1",
    ],
    ["close()", `const p = pool(url); await p.ready(); p.close().then(() => console.log("closed"));`, "closed"],
  ])("but not before the answer to %s", async (_name, source, output) => {
    expect(await program(source)).toEqual({ code: 0, output });
  });
});

describe.runIf(process.platform === "linux")("threads", () => {
  const threads = (): number => readdirSync("/proc/self/task").length;

  test("have all ended after close() and terminate(), even those of workers that never end by themselves", async () => {
    // Starts Node's own thread pool, which would otherwise start with its first file operation.
    await Promise.all(Array.from({ length: 8 }, () => stat(fileURLToPath(import.meta.url))));
    const before = threads();
    const closed = testPool<Plain>(plainUrl, { size: 3 });
    await closed.call.add(1, 2);
    const ended = await warmed(testPool<Plain>(plainUrl, { size: 2 }));
    const spinning = reasonOf(ended.call.forEver());
    expect(threads()).toBeGreaterThan(before);
    await Promise.all([closed.close(), ended.terminate()]);
    await spinning;
    await expect.poll(threads).toBeLessThanOrEqual(before);
  });
});

describe("a factory", () => {
  test("creates the workers", async () => {
    let made = 0;
    const factory = testPool<Plain>(() => {
      made++;
      return new Worker(plainUrl);
    });
    expect(await factory.call.add(1, 2)).toBe(3);
    expect(made).toBe(1);
  });

  test("that throws when a worker is to be replaced fails calls, but not the process", async () => {
    let broken = false;
    const factory = testPool<typeof import("../fixtures/crash.tasks.js")>(() => {
      if (broken) throw new RangeError("no more workers");
      return new Worker(new URL("../fixtures/built/crash.tasks.js", import.meta.url));
    });
    await factory.call.runs();
    broken = true;
    const [left, behind] = [factory.call.leave(), factory.call.runs()].map((each) => reasonOf(each as Promise<never>));
    expect(await left).toMatchObject({ code: "worker-exited" });
    expect(await behind).toMatchObject({ code: "worker-start-failed" });
    broken = false;
    expect(await factory.call.runs()).toBe(1);
  });
});

test("resource limits fail the call that reaches them, and replace only its worker", async () => {
  const made = await warmed(testPool<Plain>(plainUrl, { resourceLimits: { maxOldGenerationSizeMb: 16 } }));
  expect(await reasonOf(made.call.fillMemory())).toMatchObject({ code: "out-of-memory" });
  expect(await made.call.add(1, 2)).toBe(3);
});

describe("a child process", () => {
  test.each([
    ["a script", ["-e", "code"], "code"],
    ["a script that looks like a flag", ["-p", "-1"], "-1"],
    ["a script in the flag", ["--eval=code"], "code"],
    ["the kind of a script", ["--input-type=module", "-e", "code"], "code"],
    ["the kind of a script as a separate argument", ["--input-type", "module", "-pe", "code"], "code"],
    ["the inspector", ["--inspect", "--inspect-brk=9229", "--inspect-port", "9230"]],
    ["the test runner", ["--test", "--test-reporter", "spec"]],
    ["watching", ["--watch", "--watch-path", "./src"]],
    ["a check of the syntax", ["--check"]],
    ["the name of a profile", ["--cpu-prof-name=one.cpuprofile"]],
  ])("does not inherit %s", (_name, flags, script?: string) => {
    expect(inheritedFlags(["--no-warnings", ...flags, "--expose-gc"], script)).toEqual([
      "--no-warnings",
      "--expose-gc",
    ]);
  });

  test("inherits loaders, conditions, permissions and limits", () => {
    const flags = [
      "--import",
      "./hook.mjs",
      "-r",
      "./a.cjs",
      "-C",
      "dev",
      "--permission",
      "--allow-fs-read=*",
      "--max-old-space-size=64",
    ];
    expect(inheritedFlags(flags)).toEqual(flags);
  });

  test("inherits NODE_OPTIONS in the same way, and keeps what the app has set for it", () => {
    const before = process.env["NODE_OPTIONS"];
    onTestFinished(() => {
      if (before === undefined) delete process.env["NODE_OPTIONS"];
      else process.env["NODE_OPTIONS"] = before;
    });
    process.env["NODE_OPTIONS"] = '--inspect=9229 --import "./a b.mjs"';
    expect(processEnvironment({})?.["NODE_OPTIONS"]).toBe('--import "./a b.mjs"');
    const env = { NODE_OPTIONS: "--inspect=0" };
    expect(processEnvironment({ env })).toBe(env);
  });
});

test("a pool that was used and left open imports no module after the test runner has removed the module loader", async () => {
  const entry = new URL("../../dist/node/index.js", import.meta.url).href;
  const child = fileURLToPath(new URL("./left-open.child.mjs", import.meta.url));
  // Of this Node alone: a runner's own options would reach the child.
  const { NODE_OPTIONS: _, ...env } = process.env;
  const flags = ["--experimental-vm-modules", "--no-warnings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, entry, builtUrl("foreign").href], {
    env,
  });
  expect(JSON.parse(stdout)).toEqual([]);
});

// A task's output may still be in flight when the task is answered. It must arrive before its worker or the process ends.
const lines = 1_000;

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
  const { output } = await program(source);
  expect(output.split("\n").filter((line) => line.startsWith("line "))).toHaveLength(count);
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
    ["gone", { exitCode: 1 }, { cause: stray }],
  ]);
  stop();
  expect(worker.eventNames()).toEqual([]);
});

test("the error that ends a worker is in the reason of its channel's end, and the cause of the errors of its calls", async () => {
  const worker = Object.assign(new EventEmitter(), { postMessage: () => {} });
  const connecting = connect(portTransport(worker));
  const limits = { frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 9 };
  const hello = writeHello({ version: 1, wires: ["clearway"], ...limits });
  worker.emit("message", [portMark, Post.frames, [hello.length], hello]);
  const endpoint = await connecting;
  const call = reasonOf(endpoint.methods("m").call("x"));
  const stray = new Error("stray");
  worker.emit("error", stray);
  worker.emit("exit", 1);
  const reason = await endpoint.closed;
  expect(reason).toMatchObject({ code: "lost", detail: { exitCode: 1 } });
  expect(reason.message).toBe("the other side of the port is gone: stray");
  expect(reason.cause).toBe(stray);
  expect(await call).toMatchObject({ code: "transport-closed", message: expect.stringContaining("stray") });
  expect(((await call) as Error).cause).toBe(stray);
});

test("the end of a child process is reported although a process that it has started prints in every turn", async () => {
  const forked = vi.spyOn(childProcess, "fork");
  onTestFinished(() => forked.mockRestore());
  const options = { processes: true, stdout: { write() {} } };
  const made = await warmed(testPool<typeof import("../fixtures/process.tasks.js")>(builtUrl("process"), options));
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
