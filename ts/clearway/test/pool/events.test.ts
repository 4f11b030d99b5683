// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: a process reports its end otherwise than a thread.
import type { PoolOptions, WorkerEvent } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, held, plainPool, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");
type Setup = typeof import("../fixtures/setup.tasks.js");

/** Returns a list of events, and a listener that adds to it. */
function recorded() {
  const events: WorkerEvent[] = [];
  return { events, onWorker: (event: WorkerEvent) => void events.push(event) };
}

const started = (worker: number) => ({ type: "started", worker });
const exited = (worker: number, error?: unknown) => ({ type: "exited", worker, error });

describe("onWorker receives", () => {
  test("the start of each worker, and its exit without an error on close()", async () => {
    const { events, onWorker } = recorded();
    const pool = plainPool({ size: 2, onWorker });
    await expect.poll(() => events.length).toBe(2);
    expect(new Set(events.map(({ worker }) => worker))).toEqual(new Set([0, 1]));
    expect(events.every(({ type }) => type === "started")).toBe(true);
    await pool.close();
    await expect.poll(() => events.slice(2)).toHaveLength(2);
    expect(events.slice(2)).toEqual(expect.arrayContaining([exited(0), exited(1)]));
  });

  test("the exit without an error on terminate(), also of a worker that was starting", async () => {
    const { events, onWorker } = recorded();
    const pool = plainPool({ onWorker });
    await pool.terminate();
    await expect.poll(() => events).toEqual([exited(0)]);
  });

  test("the exit of a worker that died, with the error of its call, and the start of the next one", async () => {
    const { events, onWorker } = recorded();
    const pool = testPool<Crash>(builtUrl("crash"), { onWorker });
    await pool.call.who();
    const reason = await reasonOf(pool.call.leave());
    await pool.call.who();
    expect(events).toMatchObject([started(0), exited(0, { code: reason.code, message: reason.message }), started(0)]);
  });

  test("the exit of a recycled worker without an error", async () => {
    const { events, onWorker } = recorded();
    const pool = testPool<Crash>(builtUrl("crash"), { onWorker, recycle: { tasks: 1 } });
    await pool.call.who();
    await pool.call.who();
    expect(events.slice(0, 3)).toEqual([started(0), exited(0), started(0)]);
  });

  test("the exit of a worker that a task blocked beyond its timeout, with an error", async () => {
    const { events, onWorker } = recorded();
    const pool = await warmed(plainPool({ onWorker, graceMs: 1 }));
    // The timeout counts from the task's start. A signal could abort the call before the worker has received it.
    expect(await reasonOf(pool.with({ timeoutMs: 1 }).call.forEver())).toMatchObject({ code: "timeout" });
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(events).toMatchObject([started(0), exited(0, { code: "worker-crashed" }), started(0)]);
  });

  test("only the exit of a worker that never became ready", async () => {
    const { events, onWorker } = recorded();
    const missing = testPool(builtUrl("missing"), { onWorker });
    expect(await reasonOf(missing.ready())).toMatchObject({ code: "worker-start-failed" });
    await expect.poll(() => events).toMatchObject([exited(0, { code: "worker-start-failed" })]);
    const failing = recorded();
    const options = { onWorker: failing.onWorker, setup: { fail: "error" } };
    const pool = testPool<Setup>(builtUrl("setup"), options as unknown as PoolOptions);
    expect(await reasonOf(pool.ready())).toMatchObject({ code: "setup-failed" });
    await expect.poll(() => failing.events).toMatchObject([exited(0, { code: "setup-failed" })]);
  });
});

describe("onDrain is called", () => {
  /** Creates a pool that counts its drains. Its one worker is ready. */
  async function counting(options: PoolOptions = {}) {
    const seen = { drains: 0 };
    const pool = await warmed(plainPool({ ...options, onDrain: () => void seen.drains++ }));
    return { pool, seen };
  }

  test("once when the calls that waited have been sent", async () => {
    const { pool, seen } = await counting();
    await Promise.all([1, 2, 3, 4, 5].map((each) => pool.call.later(each)));
    expect(seen.drains).toBe(1);
    await Promise.all([1, 2, 3].map((each) => pool.call.later(each)));
    expect(seen.drains).toBe(2);
  });

  test("not for calls that find a free worker, and not for streams that are read at once", async () => {
    const { pool, seen } = await counting();
    for (let turn = 0; turn < 5; turn++) await pool.call.later(turn);
    for await (const _each of pool.call.numbers(3));
    await pool.ping();
    expect(seen.drains).toBe(0);
  });

  test("when the calls that waited were cancelled", async () => {
    const { pool, seen } = await counting();
    const { release } = await held(pool);
    const leaving = new AbortController();
    const left = reasonOf(pool.with({ signal: leaving.signal }).call.later(1));
    await pool.ping();
    expect(seen.drains).toBe(0);
    leaving.abort();
    await left;
    expect(seen.drains).toBe(1);
    await release();
  });
});

test.each(["onWorker", "onDrain"])("an %s that is not a function is refused", (option) => {
  expect(() => plainPool({ [option]: 5 })).toThrow(
    expect.objectContaining({ code: "invalid-argument", message: expect.stringContaining(option) }),
  );
});
