// SPDX-License-Identifier: MIT OR Apache-2.0
// How a program with child processes ends, and how they end with it. Each program is a process of its own, like a user's script.
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";
import { outcomeOf, type ProgramOptions, runs, startProgram } from "../fixtures/task-folder.js";

const url = builtUrl("process");
const program = (source: string) => startProgram(url, source);
const outcome = (source: string, options?: ProgramOptions) => outcomeOf(url, source, options);

describe("a process that has closed its resources", () => {
  test("writes the profile that its flags ask for, because it ends by itself", async () => {
    const { code, output } = await outcome(`import { readdirSync } from "node:fs";
      const p = make({ execArgv: ["--cpu-prof", "--cpu-prof-dir=profiles"] });
      await p.call.add(1, 2);
      await p.close();
      console.log(readdirSync("profiles").length);`);
    expect({ code, output }).toEqual({ code: 0, output: "1" });
  });
});

test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const)(
  "an app whose whole process group gets %s finishes the calls that run, closes its pool and ends",
  async (signal) => {
    const app = await program(`import { callback } from "clearway/callback";
      let finish;
      const held = new Promise((resolve) => { finish = resolve; });
      const p = make();
      process.once("${signal}", async () => {
        const closed = p.close({ timeoutMs: 600_000 });
        finish("finished");
        console.log(await result);
        await closed;
        process.exit();
      });
      const result = p.call.asks(callback(() => { console.log("runs"); return held; }));`);
    const ended = once(app, "close");
    const lines = createInterface(app.stdout!)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe("runs");
    process.kill(-app.pid!, signal);
    expect((await lines.next()).value).toBe("finished");
    expect(await ended).toEqual([0, null]);
  },
);

test("a script whose timers are numbers, as in Jest's environment for jsdom, uses the library and exits", async () => {
  const jsdom = `const { setTimeout, setInterval } = globalThis;
    globalThis.setTimeout = (...args) => Number(setTimeout(...args));
    globalThis.setInterval = (...args) => Number(setInterval(...args));
    delete globalThis.setImmediate;`;
  const source = `import { watch } from "clearway/meter";
    import { connect, memoryPair } from "clearway/channel";
    const meter = watch();
    await meter.ready;
    const [a, b] = await Promise.all(memoryPair().map((end) => connect(end)));
    for (const processes of [false, true]) {
      const p = make({ processes, size: { min: 0, max: 1, idleMs: 1 } });
      b.methods("add" + processes).handle((_method, value) => p.with({ timeoutMs: 600_000 }).call.add(value, 1));
      console.log(await a.methods("add" + processes).call("one", 1));
      await p.close();
    }
    meter.stop();
    await a.close();`;
  expect(await outcome(source, { first: jsdom })).toEqual({ code: 0, output: "2\n2" });
});

describe("a script exits by itself", () => {
  test.each([
    ["with processes that it never used", `make({ size: 2 }); console.log("end");`, "end"],
    ["with idle processes that it used", `console.log(await make({ size: 2 }).call.add(1, 2));`, "3"],
    [
      "with a stream that it no longer reads",
      `const s = make({ window: { items: 1 } }).call.values(9, 1); console.log((await s.next()).value.length); globalThis.kept = s;`,
      "1",
    ],
    [
      "with an idle thread whose output it captures",
      `console.log(await make({ processes: false, stdout: { write() {} }, stderr: { write() {} } }).call.add(1, 2));`,
      "3",
    ],
    ["after run()", `console.log(await run(url, { processes: true }).call.add(2, 2));`, "4"],
    ["but not before the answer to a call", `make().call.later(50).then(console.log);`, "done"],
    [
      "but not before the answer to a call of a warm pool",
      `const p = make(); await p.ready(); p.call.later(50).then(console.log);`,
      "done",
    ],
    [
      "but not before close() has settled",
      `const p = make(); await p.ready(); p.close().then(() => console.log("closed"));`,
      "closed",
    ],
  ])("%s", async (_name, source, output) => {
    expect(await outcome(source)).toEqual({ code: 0, output });
  });
});

test("a script of the command line runs once, and not in its processes", async () => {
  const source = `console.log("script"); console.log(await run(url, { processes: true }).call.add(1, 2));`;
  expect(await outcome(source, { inline: true })).toEqual({ code: 0, output: "script\n3" });
});

test.each([
  ["a script ends", ""],
  ["a pool is closed", "await p.close();"],
])("all output of a process arrives when %s", async (_when, end) => {
  const length = 300_000;
  const source = `const p = make({ stderr: { write() {} } }); await p.ready(); await p.call.print("x".repeat(${length})); ${end}`;
  const { code, output } = await outcome(source);
  expect([code, output.length]).toEqual([0, length]);
});

// Prints the number of its worker's process when that is where it should be.
const idle = "const p = make(); console.log(await p.call.pid()); setInterval(() => {}, 1000);";
const blocked = "make().with({ onProgress: console.log }).call.hotLoop();";

describe.runIf(process.platform === "linux")("a process ends with its parent", () => {
  test.each([
    ["is killed", idle, "kill"],
    ["is killed, even in a loop that never ends", blocked, "kill"],
    ["calls process.exit()", `${idle} process.stdin; setTimeout(() => process.exit(3));`, "wait"],
    [
      "calls process.exit(), even in a loop that never ends",
      "make().with({ onProgress: (pid) => { console.log(pid); setTimeout(() => process.exit(3)); } }).call.hotLoop();",
      "wait",
    ],
    [
      "has an uncaught error",
      "make().with({ onProgress: (pid) => { console.log(pid); setTimeout(() => { throw new Error(); }); } }).call.hotLoop();",
      "wait",
    ],
  ])("that %s", async (_how, source, end) => {
    const parent = await program(source);
    const exited = once(parent, "exit");
    const [line] = await once(createInterface(parent.stdout!), "line");
    const pid = Number(line);
    if (end === "kill") {
      expect(runs(pid)).toBe(true);
      parent.kill("SIGKILL");
    }
    await exited;
    await expect.poll(() => runs(pid)).toBe(false);
  });

  test("if that is a thread that is terminated, even in a loop that never ends", async () => {
    const parent = await program(`
      const { Worker } = await import("node:worker_threads");
      const code = \`const { parentPort, workerData } = require("node:worker_threads");
        import(workerData.lib).then(({ pool }) => pool(workerData.url, { size: 1, processes: true })
          .with({ onProgress: (pid) => parentPort.postMessage(pid) }).call.hotLoop());\`;
      const thread = new Worker(code, { eval: true, workerData: { lib: import.meta.resolve("clearway"), url: url.href } });
      thread.once("message", (pid) => { console.log(pid); setImmediate(() => thread.terminate()); });
      setInterval(() => {}, 1000);`);
    const [line] = await once(createInterface(parent.stdout!), "line");
    await expect.poll(() => runs(Number(line))).toBe(false);
    expect(parent.exitCode).toBeNull();
  });

  test("that is killed while its process starts", async () => {
    const parent = await program(
      `const p = make(); console.log((await import("node:fs")).readFileSync("/proc/self/task/" + process.pid + "/children", "utf8").trim()); setInterval(() => {}, 1000);`,
    );
    const [line] = await once(createInterface(parent.stdout!), "line");
    const pids = String(line).split(" ").map(Number);
    parent.kill("SIGKILL");
    await expect.poll(() => pids.filter(runs)).toEqual([]);
  });
});

/** Makes a pool of one worker, which is inside native code until the test has finished. */
async function inNativeCode() {
  const folder = mkdtempSync(join(tmpdir(), "clearway-native-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let exit: Promise<unknown> | undefined;
  process.once("worker", (worker: Worker) => {
    exit = once(worker, "exit");
  });
  const pool = testPool<typeof import("../fixtures/process.tasks.js")>(builtUrl("process"), {
    graceMs: 1,
    processes: false,
  });
  const abort = new AbortController();
  const started = join(folder, "started");
  const call = reasonOf(pool.with({ signal: abort.signal }).call.waitInNativeCode(started));
  // The thread waits in native code for the process that writes this file.
  await expect.poll(() => existsSync(started)).toBe(true);
  const pid = Number(readFileSync(started, "utf8"));
  let waits = true;
  const free = (): void => {
    if (waits) process.kill(pid, "SIGKILL");
    waits = false;
  };
  onTestFinished(free);
  return { pool, call, abort, free, exit };
}

describe.runIf(process.platform !== "win32")("while a worker is inside native code", () => {
  test("another one takes its place when its call is cancelled", async () => {
    const { pool, call, abort } = await inNativeCode();
    abort.abort(new Error("enough"));
    expect((await call).message).toBe("enough");
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.close();
  });

  test("close() with a limit settles, and the call fails", async () => {
    const { pool, call } = await inNativeCode();
    await pool.close({ timeoutMs: 1 });
    expect((await call).code).toBe("pool-closed");
  });

  test("other code hears the end of its thread, also after the pool has ended", async () => {
    const { pool, free, exit } = await inNativeCode();
    await pool.terminate();
    free();
    await exit;
  });

  test("terminate() settles, and the call fails", async () => {
    const { pool, call } = await inNativeCode();
    await pool.terminate();
    expect((await call).code).toBe("pool-terminated");
  });
});
