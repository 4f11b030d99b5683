// SPDX-License-Identifier: MIT OR Apache-2.0
import { getEventListeners } from "node:events";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { builtUrl, type Plain, plainPool, plainUrl, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

// A worker in a browser survives both errors, a worker in Node does not.
test.each(["stray", "strayRejection"] as const)("%s: an uncaught error fails the call with its cause", async (task) => {
  const pool = testPool<Crash>(builtUrl("crash"));
  const reason = (await reasonOf(pool.call[task]())) as Error & { code: string };
  expect(reason).toMatchObject({ code: "worker-crashed" });
  expect(reason.message).toContain("stray");
  expect(reason.cause).toMatchObject({ message: "stray" });
  expect(await pool.call.runs()).toBe(1);
});

type Worn = typeof import("../fixtures/worn.tasks.js");

// Browsers do not tell a worker the size of its heap.
test("recycling replaces a worker whose heap has reached heapMb", async () => {
  // Smaller than any heap.
  const pool = testPool<Worn>(builtUrl("worn"), { recycle: { heapMb: 1 } });
  const first = await pool.call.who();
  // A worker reports the size of its heap at most ten times a second.
  await expect.poll(() => pool.call.who()).not.toBe(first);
  expect(pool.stats().workers.restarts).toBe(0);
});

test("hundreds of calls with one signal cause no warning, and leave no listener", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { signal } = new AbortController();
  const { call } = plainPool().with({ signal });
  const calls = Array.from({ length: 200 }, (_, at) => call.add(at));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await Promise.all(calls);
  // Warnings are emitted in a later turn.
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings.filter(({ name }) => name === "MaxListenersExceededWarning")).toEqual([]);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("an abort ends all calls with its signal, also those that are made during the abort", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const pool = plainPool();
  const { call } = pool.with({ signal });
  const calls = Array.from({ length: 20 }, () => call.never());
  const late: Promise<unknown>[] = [];
  signal.addEventListener("abort", () => late.push(call.add(1)));
  controller.abort("enough");
  const ends = await Promise.allSettled([...calls, ...late]);
  expect(ends).toHaveLength(21);
  for (const end of ends) expect(end).toEqual({ status: "rejected", reason: "enough" });
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  expect(await pool.call.add(1, 2)).toBe(3);
});

test("a mapping leaves no listener on its signal, whether it ends, fails or is left", async () => {
  const pool = plainPool();
  const { signal } = new AbortController();
  const listeners = (): number => getEventListeners(signal, "abort").length;
  expect(await pool.map.add([1, 2], { signal })).toEqual([2, 3]);
  expect(listeners()).toBe(0);
  await reasonOf(pool.map.fail(["no"], { signal }));
  expect(listeners()).toBe(0);
  for await (const _each of pool.with({ signal }).map.add([1, 2, 3])) {
    expect(listeners()).toBe(1);
    break;
  }
  expect(listeners()).toBe(0);
});

type Borders = typeof import("../fixtures/borders.tasks.js");
type Chaos = typeof import("../fixtures/chaos.tasks.js");

test.each([1, 2])(
  "a call that throws just before another call is killed runs once and rejects with its own error, with concurrency %i",
  async (concurrency) => {
    const pool = await warmed(testPool<Chaos>(builtUrl("chaos"), { concurrency, graceMs: 20 }));
    const cells = new Int32Array(new SharedArrayBuffer(8));
    // In one message, the first of this worker: the code that encodes errors is not loaded yet.
    const thrown = reasonOf(pool.call.throws({ cells, at: 0 }, 1));
    const killed = reasonOf(pool.with({ timeoutMs: 100 }).call.spin({ cells, at: 1 }));
    expect(await killed).toMatchObject({ code: "timeout" });
    expect(await thrown).not.toHaveProperty("code");
    expect(cells[0]).toBe(1);
    // The time begins with the call's turn. On a busy machine, it may be over before the task's first line.
    expect(cells[1]).toBeLessThanOrEqual(1);
  },
);

test("a running call fails and does not run again when its worker no longer accepts messages", async () => {
  let deaf: Worker | undefined;
  let latest: Worker | undefined;
  const source = (): Worker => {
    const worker = new Worker(builtUrl("chaos"));
    latest = worker;
    const post = worker.postMessage.bind(worker);
    worker.postMessage = (...message) => {
      if (deaf === worker) throw new Error("deaf");
      post(...message);
    };
    return worker;
  };
  const pool = testPool<Chaos>(source as never, { carrier: "port" });
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const running = reasonOf(pool.call.spin({ cells, at: 0 }));
  await expect.poll(() => cells[0]).toBe(1);
  deaf = latest;
  expect(await reasonOf(pool.ping())).toMatchObject({ code: "worker-crashed" });
  expect(await running).toMatchObject({ code: "worker-crashed" });
  expect(await pool.call.ok({ cells, at: 1 }, 5)).toBe(5);
  expect([...cells]).toEqual([1, 1]);
});

test("a call whose workers end and say that no call has begun fails with worker-exited after eleven of them, although other calls are answered", async () => {
  const pool = testPool<Borders>(builtUrl("borders"), { size: 1, concurrency: 2 });
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const denied = reasonOf(pool.call.deny(cells));
  for (let runs = 1; runs <= 11; runs++) {
    await expect.poll(() => cells[0]).toBe(runs);
    expect(await pool.call.echo(runs)).toBe(runs);
    Atomics.store(cells, 1, runs);
  }
  expect(await denied).toMatchObject({ code: "worker-exited" });
  expect(cells[0]).toBe(11);
});

test("a first call whose worker's module throws moves to another starting worker", async () => {
  let made = 0;
  const pool = testPool<Plain>(() => new Worker(made++ === 0 ? builtUrl("throws") : plainUrl), { size: 2 });
  expect(await Promise.all([pool.call.add(1, 2), pool.call.add(2, 2)])).toEqual([3, 4]);
});

// The code of a worker that fails once the shared cell changes.
const throwsLater = `Atomics.wait(require("node:worker_threads").workerData, 0, 0);
throw new RangeError("not today, either");`;

test("a first call whose worker's module throws moves to a worker that is ready and idle", async () => {
  const held = new Int32Array(new SharedArrayBuffer(4));
  let made = 0;
  const pool = testPool<Plain>(
    () => (made++ === 0 ? new Worker(throwsLater, { eval: true, workerData: held }) : new Worker(plainUrl)),
    { size: 2 },
  );
  const [first, second] = [pool.call.add(1, 2), pool.call.add(2, 2)];
  expect(await second).toBe(4);
  Atomics.store(held, 0, 1);
  Atomics.notify(held, 0);
  expect(await first).toBe(3);
});
