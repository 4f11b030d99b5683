// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Pool, PoolOptions } from "clearway";
import { describe, expect, onTestFinished, test } from "vitest";
import { partialLibrary } from "../fixtures/partial-library.js";
import { builtUrl, type Plain, plainUrl, reasonOf } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");
type RecordTasks = typeof import("../fixtures/records.tasks.js");

async function partial(module: string, how: "late" | "missing", options: PoolOptions = {}) {
  const { library, asked, come } = await partialLibrary(module, how);
  const pool: Pool<Plain> = library.pool<Plain>(plainUrl, { size: 1, ...options });
  onTestFinished(() => pool.terminate());
  return { pool, asked, come };
}

const nothingLeft = { open: 0, queue: { items: 0 }, workers: { size: 0 } };

describe("without the lifecycle module,", () => {
  test("a pool fails as if no worker could be started, with the cause, and tries again", async () => {
    const { pool, come } = await partial("lifecycle", "missing");
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

  test("a pool with metrics measures the calls that it answers once the module is there", async () => {
    const { pool, come } = await partial("lifecycle", "missing", { metrics: true });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
    come();
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.ready();
    expect(pool.stats().tasks["add"]).toMatchObject({ calls: 2, ok: 1, runUs: { count: 1 } });
  });

  test("a pool can be closed", async () => {
    const { pool } = await partial("lifecycle", "missing");
    const failed = reasonOf(pool.call.add(1, 2));
    await pool.close();
    expect(await failed).toMatchObject({ code: "worker-start-failed" });
    expect(pool.stats()).toMatchObject(nothingLeft);
  });

  test("a worker is not ready in time when the module does not load", async () => {
    const { pool } = await partial("lifecycle", "late", { startTimeoutMs: 500 });
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({
      code: "worker-start-failed",
      message: expect.stringContaining("in time"),
    });
    await expect.poll(() => pool.stats()).toMatchObject(nothingLeft);
  });
});

describe("while the lifecycle module is loading,", () => {
  test("calls wait for it", async () => {
    const { pool, asked, come } = await partial("lifecycle", "late");
    const calls = Promise.all([pool.call.add(1, 2), pool.with({ key: 1, priority: 1 }).call.add(3, 4)]);
    const failed = reasonOf(pool.call.fail("no"));
    await asked;
    expect(pool.stats()).toMatchObject({ open: 3, workers: { ready: 0 } });
    come();
    expect(await calls).toEqual([3, 7]);
    expect(await failed).toMatchObject({ name: "RangeError", message: "no" });
  });

  test("a cancelled call is dropped", async () => {
    const { pool, asked, come } = await partial("lifecycle", "late");
    const leaving = new AbortController();
    const call = reasonOf(pool.with({ signal: leaving.signal }).call.forEver());
    await asked;
    leaving.abort();
    expect(await call).toMatchObject({ name: "AbortError" });
    come();
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test.each(["close", "terminate"] as const)("%s() ends the pool, and a later load changes nothing", async (end) => {
    const { pool, asked, come } = await partial("lifecycle", "late");
    const call = reasonOf(pool.call.add(1, 2));
    await asked;
    if (end === "close") await pool.close({ timeoutMs: 0 });
    else await pool.terminate();
    expect(await call).toMatchObject({ code: end === "close" ? "pool-closed" : "pool-terminated" });
    come();
    expect(pool.stats()).toMatchObject(nothingLeft);
  });
});

describe("a stream that is read while the lifecycle module is loading", () => {
  test("answers its reads in order", async () => {
    const { pool, asked, come } = await partial("lifecycle", "late");
    const stream = pool.call.numbers(3);
    const steps = Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
    await asked;
    come();
    expect(await steps).toMatchObject([{ value: 0 }, { value: 1 }, { value: 2 }, { done: true }]);
    expect(pool.stats()).toMatchObject({ open: 0, tasks: { numbers: { calls: 1, ok: 1 } } });
  });

  test("finishes before close() settles", async () => {
    const { pool, asked, come } = await partial("lifecycle", "late");
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
    const { pool, asked, come } = await partial("lifecycle", "late");
    const stream = pool.call.numbers(3);
    const steps = Promise.all([stream.next(), stream.return()]);
    await asked;
    come();
    expect(await steps).toMatchObject([{ done: true }, { done: true }]);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats()).toMatchObject({ open: 0 });
  });

  test("rejects when the task is not a stream, and when the pool ends", async () => {
    const { pool, asked, come } = await partial("lifecycle", "late");
    const noStream = pool.call.add(1, 2) as unknown as AsyncIterator<number>;
    const steps = reasonOf(noStream.next());
    await asked;
    come();
    expect(await steps).toMatchObject({ code: "not-a-stream" });
    const other = await partial("lifecycle", "late");
    const next = reasonOf(other.pool.call.numbers(3).next());
    await other.asked;
    await other.pool.terminate();
    other.come();
    expect(await next).toMatchObject({ code: "pool-terminated" });
  });
});

test("without the feed module, a call with a stream argument fails, and its stream is closed", async () => {
  const { library, come } = await partialLibrary("feed", "missing");
  const pool = library.pool<Streams>(builtUrl("streams"), { size: 1 });
  onTestFinished(() => pool.terminate());
  let over = 0;
  async function* source() {
    try {
      for (let at = 0; ; at++) yield at;
    } finally {
      over++;
    }
  }
  const given = source();
  const why = { code: "missing-package", cause: { code: "ERR_MODULE_NOT_FOUND" } };
  expect(await reasonOf(pool.call.take(given, 2))).toMatchObject(why);
  // The stream is closed after the task has ended.
  await expect.poll(() => pool.stats().open).toBe(0);
  expect(await given.next()).toMatchObject({ done: true });
  come();
  expect(await pool.call.take(source(), 2)).toEqual([0, 1]);
  await expect.poll(() => over).toBe(1);
});

describe("without the ring,", () => {
  test("calls go by port", async () => {
    const { pool } = await partial("open-ring", "missing");
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(await pool.call.add(3, 4)).toBe(7);
  });

  test("a worker that cannot be started fails its call as usual", async () => {
    const { library } = await partialLibrary("open-ring", "missing");
    const pool = library.pool<Plain>(new URL("./missing.js", plainUrl), { size: 1 });
    onTestFinished(() => pool.terminate());
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
  });
});

test("without its module, a broadcast fails, and the next one succeeds once the module is there", async () => {
  const { pool, come } = await partial("broadcast", "missing");
  expect(await reasonOf(pool.broadcast.add(1, 2))).toMatchObject({
    code: "missing-package",
    cause: { code: "ERR_MODULE_NOT_FOUND" },
  });
  come();
  expect(await pool.broadcast.add(1, 2)).toEqual([3]);
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
