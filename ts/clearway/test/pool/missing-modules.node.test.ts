// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: the library's own code decides what a part of it that is missing, or late, means for a pool.
import type { EventEmitter } from "node:events";
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Pool, PoolOptions } from "clearway";
import { build } from "esbuild";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Op } from "../../src/transport/protocol.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { builtUrl, gate, type Plain, plainUrl, reasonOf, testPool, warmed, workerMaker } from "../fixtures/pools.js";

type Library = typeof import("clearway");

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Builds the entry `clearway` for Node with `clearway-rest` as a file of its own, as it is in browsers, and copies `records`. One of these two
 * files loads on demand, or is missing until then.
 */
async function partialLibrary(part: "clearway-rest" | "records", how: "late" | "missing") {
  const folder = mkdtempSync(here("../fixtures/built/partial-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await build({
    entryPoints: { index: here("../../src/index.ts"), "clearway-rest": here("../../src/pool/lifecycle/lifecycle.ts") },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    alias: { "#host": here("../../src/host/node.ts") },
    define: { hasProcesses: "true" },
    logLevel: "warning",
    plugins: [
      {
        name: "records are an entry of their own",
        setup: ({ onResolve }) =>
          onResolve({ filter: /\/records\.js$/ }, ({ kind }) =>
            kind === "dynamic-import" ? { path: "./records.js", external: true } : undefined,
          ),
      },
    ],
  });
  copyFileSync(here("../../dist/node/records.js"), `${folder}/records.js`);
  const [file, aside] = [`${folder}/${part}.js`, `${folder}/aside.js`];
  renameSync(file, aside);
  const asked = gate();
  const come = gate();
  const gates = globalThis as { clearwayGates?: Record<string, unknown> };
  gates.clearwayGates ??= {};
  gates.clearwayGates[folder] = { asked, come };
  if (how === "late") {
    const held = `const { asked, come } = globalThis.clearwayGates[${JSON.stringify(folder)}];`;
    writeFileSync(file, `${held} asked.tell(); await come.promise; export * from "./aside.js";`);
  }
  const library = (await import(/* @vite-ignore */ pathToFileURL(`${folder}/index.js`).href)) as Library;
  return {
    library,
    /** Settles when the library loads the part. Only with `late`. */
    asked: asked.promise,
    /** Makes the part available. */
    come: () => (how === "late" ? come.tell() : renameSync(aside, file)),
  };
}

type RecordTasks = typeof import("../fixtures/records.tasks.js");

async function partial(how: "late" | "missing", options: PoolOptions = {}) {
  const { library, asked, come } = await partialLibrary("clearway-rest", how);
  const pool: Pool<Plain> = library.pool<Plain>(plainUrl, { size: 1, ...options });
  onTestFinished(() => pool.terminate());
  return { pool, asked, come };
}

const nothingLeft = { open: 0, queue: { items: 0 }, workers: { size: 0 } };

describe("without the rest of the library,", () => {
  test("a pool fails as if no worker could be started, with the cause, and tries again", async () => {
    const { pool, come } = await partial("missing");
    for (let turn = 0; turn < 2; turn++) {
      const answers = await Promise.all([
        reasonOf(pool.ready()),
        reasonOf(pool.ping()),
        reasonOf(pool.call.add(1, 2)),
        reasonOf(pool.with({ key: "k", timeoutMs: 1_000 }).call.add(1, 2)),
        reasonOf(pool.call.numbers(3).next()),
        reasonOf(pool.call.numbers(3).return()),
      ]);
      for (const answer of answers) {
        expect(answer).toMatchObject({ code: "worker-start-failed", cause: { code: "ERR_MODULE_NOT_FOUND" } });
      }
    }
    await expect.poll(() => pool.stats()).toMatchObject(nothingLeft);
    come();
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("a pool with metrics measures the calls that it answers once the rest is there", async () => {
    const { pool, come } = await partial("missing", { metrics: true });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
    come();
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.ready();
    expect(pool.stats().tasks["add"]).toMatchObject({ calls: 2, ok: 1, runUs: { count: 1 } });
  });

  test("a pool can be closed", async () => {
    const { pool } = await partial("missing");
    const failed = reasonOf(pool.call.add(1, 2));
    await pool.close();
    expect(await failed).toMatchObject({ code: "worker-start-failed" });
    expect(pool.stats()).toMatchObject(nothingLeft);
  });
});

describe("when the worker has answered and the rest of the library is still loading,", () => {
  /** Makes such a pool, and a call. Timers are fake from then on. */
  async function answered() {
    const { library, come } = await partialLibrary("clearway-rest", "late");
    const newWorker = await workerMaker();
    const ready = gate();
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const source = (): Worker => {
      const worker = newWorker(plainUrl);
      // This listener is called before the pool's own, and in the same turn.
      (worker as unknown as EventEmitter).on("message", ([op]) => op === Op.Ready && ready.tell());
      return worker;
    };
    const pool = library.pool<Plain>(source, { size: 1, startTimeoutMs: 500 });
    onTestFinished(() => pool.terminate());
    const call = pool.call.add(1, 2);
    await ready.promise;
    return { pool, call, come };
  }

  test("the start's limit of time has no effect any more", async () => {
    const { call, come } = await answered();
    vi.advanceTimersByTime(500);
    await new Promise((resolve) => setImmediate(resolve));
    come();
    expect(await call).toBe(3);
  });

  test("a call fails when the rest does not load within its own limit of time", async () => {
    const { pool, call } = await answered();
    const failed = reasonOf(call);
    vi.advanceTimersByTime(30_000);
    expect(await failed).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining("it was not loaded within 30000 ms"),
    });
    await expect.poll(() => pool.stats()).toMatchObject(nothingLeft);
  });
});

describe("while the rest of the library is loading,", () => {
  test("calls wait for it", async () => {
    const { pool, asked, come } = await partial("late");
    const calls = Promise.all([pool.call.add(1, 2), pool.with({ key: 1, priority: 1 }).call.add(3, 4)]);
    const failed = reasonOf(pool.call.fail("no"));
    await asked;
    expect(pool.stats()).toMatchObject({ open: 3, workers: { ready: 0 } });
    come();
    expect(await calls).toEqual([3, 7]);
    expect(await failed).toMatchObject({ name: "RangeError", message: "no" });
  });

  test("a cancelled call is dropped", async () => {
    const { pool, asked, come } = await partial("late");
    const leaving = new AbortController();
    const call = reasonOf(pool.with({ signal: leaving.signal }).call.forEver());
    await asked;
    leaving.abort();
    expect(await call).toMatchObject({ name: "AbortError" });
    come();
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test.each(["close", "terminate"] as const)("%s() ends the pool, and a later load changes nothing", async (end) => {
    const { pool, asked, come } = await partial("late");
    const call = reasonOf(pool.call.add(1, 2));
    await asked;
    if (end === "close") await pool.close({ timeoutMs: 0 });
    else await pool.terminate();
    expect(await call).toMatchObject({ code: end === "close" ? "pool-closed" : "pool-terminated" });
    come();
    expect(pool.stats()).toMatchObject(nothingLeft);
  });
});

describe("a stream that is read while the rest of the library is loading", () => {
  test("answers its reads in order", async () => {
    const { pool, asked, come } = await partial("late");
    const stream = pool.call.numbers(3);
    const steps = Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
    await asked;
    come();
    expect(await steps).toMatchObject([{ value: 0 }, { value: 1 }, { value: 2 }, { done: true }]);
    expect(pool.stats()).toMatchObject({ open: 0, tasks: { numbers: { calls: 1, ok: 1 } } });
  });

  test("finishes before close() settles", async () => {
    const { pool, asked, come } = await partial("late");
    const values = (async () => {
      const read: number[] = [];
      for await (const value of pool.call.numbers(40)) read.push(value);
      return read.length;
    })();
    await asked;
    const closed = pool.close();
    come();
    expect(await values).toBe(40);
    await closed;
    expect(pool.stats()).toMatchObject(nothingLeft);
  });

  test("does not start when it was ended before", async () => {
    const { pool, asked, come } = await partial("late");
    const stream = pool.call.numbers(3);
    const steps = Promise.all([stream.next(), stream.return()]);
    await asked;
    come();
    expect(await steps).toMatchObject([{ done: true }, { done: true }]);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats()).toMatchObject({ open: 0 });
  });

  test("rejects when the task is not a stream, and when the pool ends", async () => {
    const { pool, asked, come } = await partial("late");
    const noStream = pool.call.add(1, 2) as unknown as AsyncIterator<number>;
    const steps = reasonOf(noStream.next());
    await asked;
    come();
    expect(await steps).toMatchObject({ code: "not-a-stream" });
    const other = await partial("late");
    const next = reasonOf(other.pool.call.numbers(3).next());
    await other.asked;
    await other.pool.terminate();
    other.come();
    expect(await next).toMatchObject({ code: "pool-terminated" });
  });
});

test("without the rest of the library, map and broadcast fail, and succeed once it is there", async () => {
  const { pool, come } = await partial("missing");
  const why = { code: "worker-start-failed", cause: { code: "ERR_MODULE_NOT_FOUND" } };
  expect(await reasonOf(pool.broadcast.add(1, 2))).toMatchObject(why);
  expect(await reasonOf(pool.map.add([1]))).toMatchObject(why);
  come();
  expect(await pool.broadcast.add(1, 2)).toEqual([3]);
  expect(await pool.map.add([1])).toEqual([2]);
});

test("without the records module, a call with a table as its result fails, and the next one succeeds once the module is there", async () => {
  const { library, come } = await partialLibrary("records", "missing");
  const pool = library.pool<RecordTasks>(builtUrl("records"), { size: 1 });
  onTestFinished(() => pool.terminate());
  expect(await reasonOf(pool.call.students(3))).toMatchObject({
    code: "missing-package",
    message: expect.stringContaining("the table reader could not be loaded: "),
    cause: { code: "ERR_MODULE_NOT_FOUND" },
  });
  expect(pool.stats().open).toBe(0);
  come();
  expect(await pool.call.students(3)).toHaveLength(3);
});

// The file of a pool's tasks changes while the pool lives, as in development. A worker that starts later runs the new file.
type Tasks = { a(): string; b(): string; kind(): string; exit(): void };

const worker = import.meta.resolve("clearway/worker");
const text = (...tasks: string[]): string =>
  `import { expose } from ${JSON.stringify(worker)}; export default expose({ ${tasks.join(", ")} });`;
const exit = "exit: () => process.exit(1)";

/** Starts a pool on one version of the file, then lets its worker end and a worker of another version start. */
async function changed(before: string[], after: string[]) {
  const folder = await mkdtemp(join(tmpdir(), "clearway-changed-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tasks.mjs");
  writeFileSync(file, text(...before));
  const pool = await warmed(testPool<Tasks>(pathToFileURL(file), { size: 1 }));
  writeFileSync(file, text(...after));
  await expect(pool.call.exit()).rejects.toMatchObject({ code: "worker-exited" });
  await pool.ready();
  return pool;
}

test("a task that the new file lists at another place is still the task of that name", async () => {
  const { call } = await changed(
    ['a: () => "a"', 'b: () => "b"', exit],
    [exit, 'b: () => "new b"', 'a: () => "new a"'],
  );
  expect([await call.a(), await call.b()]).toEqual(["new a", "new b"]);
});

test("a task that the new file lacks, or has as a stream, is refused, and never runs another one", async () => {
  const { call, stats } = await changed(
    ['a: () => "a"', 'b: () => "b"', 'kind: () => "function"', exit],
    ['a: () => "new a"', "*kind() {}", exit],
  );
  for (const act of [call.b, call.kind])
    await expect(act()).rejects.toMatchObject({
      code: "unknown-task",
      message: expect.stringContaining("has changed"),
    });
  expect(await call.a()).toBe("new a");
  expect(stats()).toMatchObject({ open: 0, workers: { restarts: 1 } });
});
