// SPDX-License-Identifier: MIT OR Apache-2.0
import { pool } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connect, memoryPair } from "../../src/channel.js";
import { globals } from "../../src/globals.js";
import { retireAll } from "../../src/pool/lifecycle/retire.js";
import { type PoolWorker, WorkerLife } from "../../src/pool/worker/worker.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { builtUrl, held, type Plain, plainPool, plainUrl, reasonOf, testPool, warmed } from "../fixtures/pools.js";

// Former hangs. The random plans of `no-hang` would find them again; these tests name the cause.

describe("a call settles", () => {
  test("when no worker can be started, even when several are tried at once", async () => {
    const missing = pool<Plain>(new URL("./built/missing.tasks.js", plainUrl), { size: 3 });
    onTestFinished(() => missing.terminate());
    const calls = Array.from({ length: 5 }, (_, at) => reasonOf(missing.with({ key: at }).call.add(1, at)));
    calls.push(reasonOf(missing.call.add(1)), reasonOf(missing.ready()));
    for (const each of await Promise.all(calls)) expect(each).toMatchObject({ code: "worker-start-failed" });
  });

  test("and so does ready(), when the only worker is being replaced", async () => {
    const pool = plainPool({ size: { min: 0, max: 1 }, recycle: { tasks: 1 } });
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.ready();
  });

  test("when the task leaves a stream whose source is waiting for a value that never arrives", async () => {
    const { call } = plainPool();
    async function* source() {
      yield 1;
      await new Promise(() => {});
    }
    expect(await call.firstOf(source())).toBe(1);
  });

  test("when its source returns a symbol", async () => {
    const { call } = plainPool();
    async function* odd() {
      yield 1;
      return Symbol("odd");
    }
    const seen: number[] = [];
    for await (const each of call.doubles(odd())) seen.push(each);
    expect(seen).toEqual([2]);
  });

  test("when its worker is due for recycling, and a reader has left one of the worker's streams unfinished", async () => {
    const { call } = plainPool({ recycle: { tasks: 1 }, window: { items: 1 } });
    const stream = call.numbers(9);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    for (let turn = 0; turn < 3; turn++) expect(await call.add(turn, 1)).toBe(turn + 1);
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    await stream.return();
    // Now the worker has no calls, and is replaced.
    await call.count();
    expect(await call.count()).toBe(1);
  });

  test("when another call does not stop, and a stream on the same worker continues", async () => {
    const pool = plainPool({ graceMs: 10, window: { items: 1 } });
    const stream = pool.call.numbers(3);
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    expect(await reasonOf(pool.with({ timeoutMs: 5 }).call.deaf())).toMatchObject({ code: "timeout" });
    expect(await pool.call.add(1, 1)).toBe(2);
    // The stream continues, and its worker ends after it.
    expect(await stream.next()).toEqual({ done: false, value: 1 });
    expect(pool.stats().workers.size).toBe(2);
    expect(await stream.next()).toEqual({ done: false, value: 2 });
    expect(await stream.next()).toEqual({ done: true, value: "end" });
    await expect.poll(() => pool.stats().workers.size).toBe(1);
    await pool.close();
    expect(pool.stats()).toMatchObject({ open: 0, workers: { size: 0, restarts: 1 } });
  });
});

describe("the ledger", () => {
  test("counts arguments that were sent to a worker, not those that were dropped before", async () => {
    const pool = await warmed(plainPool({ queue: { items: 1, whenFull: "fail" } }));
    const { release } = await held(pool);
    const waiting = pool.call.echo(new Uint8Array(100));
    expect(await reasonOf(pool.call.echo(new Uint8Array(1000)))).toMatchObject({ code: "queue-full" });
    expect(await reasonOf(pool.call.echo([new Uint8Array(10), () => 1]))).toMatchObject({ code: "queue-full" });
    await release();
    await waiting;
    expect(await reasonOf(pool.call.echo([new Uint8Array(10), () => 1]))).toMatchObject({ code: "not-cloneable" });
    expect(pool.stats().ledger.toWorkers.copies).toEqual({ "argument-not-moved": { count: 1, bytes: 100 } });
  });
});

test("close() waits for a worker's resources at most for its time limit", async () => {
  useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const life = new WorkerLife();
  life.ready();
  const worker = { life, calls: { size: 1 }, leaving: new Promise(() => {}) };
  const retired = retireAll([worker as unknown as PoolWorker], 1_000);
  vi.advanceTimersByTime(1_000);
  await retired;
  expect(life.state).toBe("draining");
});

type Streams = typeof import("../fixtures/streams.tasks.js");

/** Returns the registrations of streams since this call, and takes away those that were removed. */
function registrations(): Set<unknown> {
  const registered = new Set<unknown>();
  const { register, unregister } = FinalizationRegistry.prototype;
  vi.spyOn(FinalizationRegistry.prototype, "register").mockImplementation(function (
    this: FinalizationRegistry<unknown>,
    ...args
  ) {
    // The pool registers a stream with itself as the token.
    if (args[1] === args[2]) registered.add(args[2]);
    return register.apply(this, args);
  });
  vi.spyOn(FinalizationRegistry.prototype, "unregister").mockImplementation(function (
    this: FinalizationRegistry<unknown>,
    token,
  ) {
    registered.delete(token);
    return unregister.call(this, token);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return registered;
}

test("a stream that was read to its end, left or cancelled is not kept until the garbage collector runs", async () => {
  const streams = await warmed(testPool<Streams>(builtUrl("streams")));
  const registered = registrations();
  for await (const value of streams.call.count(3)) expect(value).toBeLessThan(3);
  for await (const _ of streams.call.count(1_000_000)) break;
  await expect(async () => {
    for await (const _ of streams.call.failAfter(2));
  }).rejects.toThrow();
  const controller = new AbortController();
  await expect(async () => {
    for await (const _ of streams.with({ signal: controller.signal }).call.count(1_000_000)) controller.abort();
  }).rejects.toThrow();
  expect(registered.size).toBe(0);
});

const dayMs = 86_400_000;

/** Sets the machine's clock, as this thread sees it. */
function setClock(byMs: number): void {
  const { wallMs } = globals;
  const read = Date.now;
  Date.now = () => read() + byMs;
  globals.wallMs = () => wallMs() + byMs;
  onTestFinished(() => {
    Date.now = read;
    globals.wallMs = wallMs;
  });
}

describe.each([
  ["back", -dayMs],
  ["forth", dayMs],
])("when the machine's clock is set %s by a day", (_, byMs) => {
  test("a call to a channel without a handler fails when its time is over, and not before", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const [left, right] = memoryPair();
    const [end] = await Promise.all([connect(left), connect(right)]);
    let failed = false;
    const call = reasonOf(end.methods("nobody").call("m")).finally(() => {
      failed = true;
    });
    await vi.advanceTimersByTimeAsync(200);
    setClock(byMs);
    // A second call makes the router look at the first one.
    void reasonOf(end.methods("nobody").call("m"));
    await vi.advanceTimersByTimeAsync(4_000);
    expect(failed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await call).code).toBe("no-handler");
  });

  test("a pool's time limits stay as they were", async () => {
    const pool = await warmed(plainPool());
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let failed = false;
    const call = reasonOf(pool.with({ deadlineMs: 1_000 }).call.never()).finally(() => {
      failed = true;
    });
    setClock(byMs);
    vi.advanceTimersByTime(999);
    await Promise.resolve();
    expect(failed).toBe(false);
    vi.advanceTimersByTime(1);
    expect((await call).code).toBe("deadline");
  });

  test("a stream gives all its values", async () => {
    const pool = plainPool();
    const values: unknown[] = [];
    for await (const value of pool.call.yieldsNested(1)) {
      if (values.length === 0) setClock(byMs);
      values.push(value);
    }
    expect(values).toHaveLength(2);
  });
});
