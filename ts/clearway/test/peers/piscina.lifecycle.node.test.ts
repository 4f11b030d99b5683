// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WorkerEvent } from "clearway";
import { expect, onTestFinished } from "vitest";
import { builtUrl, gate, plainPool, reasonOf, testPool } from "../fixtures/pools.js";
import { behaviours, gatedPool, outcomes, peerPool } from "./behaviours.js";

type Crash = typeof import("../fixtures/crash.tasks.js");
const crashPool = (options = {}) => testPool<Crash>(builtUrl("crash"), options);

behaviours("the number of workers", {
  "is at first its minimum": async () => {
    const pool = peerPool({ size: { min: 2, max: 4 } });
    await expect.poll(() => pool.stats().workers.ready).toBe(2);
    expect(pool.stats().workers.size).toBe(2);
  },
  "may be 0 before the first call": async () => {
    const pool = peerPool({ size: { min: 0, max: 2 } });
    expect(pool.stats().workers.size).toBe(0);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(pool.stats().workers.size).toBe(1);
  },
  "grows to its maximum with the calls, and no further": async () => {
    const { pool, pass, begun, open } = await gatedPool({ size: { min: 1, max: 3 } });
    const calls = ["a", "b", "c", "d", "e"].map(pass);
    await begun("a", "b", "c");
    expect(pool.stats()).toMatchObject({ workers: { size: 3 }, queue: { items: 2 } });
    await open("a", "b", "c", "d", "e");
    await Promise.all(calls);
  },
  "shrinks to its minimum when workers are idle": async () => {
    const { pool, pass, begun, open } = await gatedPool({ size: { min: 1, max: 3, idleMs: 1 } });
    const calls = ["a", "b", "c"].map(pass);
    await begun("a", "b", "c");
    await open("a", "b", "c");
    await Promise.all(calls);
    await expect.poll(() => pool.stats().workers.size).toBe(1);
  },
  "stays if idle workers may stay for ever": async () => {
    const idleMs = Number.POSITIVE_INFINITY;
    const { pool, pass, begun, open } = await gatedPool({ size: { min: 0, max: 2, idleMs } });
    const calls = ["a", "b"].map(pass);
    await begun("a", "b");
    await open("a", "b");
    await Promise.all(calls);
    expect(pool.stats().workers.size).toBe(2);
  },
  "has a maximum that follows a high minimum": async () => {
    const pool = peerPool({ size: { min: 3 } });
    await expect.poll(() => pool.stats().workers.size).toBe(3);
  },
  "is in the statistics, with the workers that are ready and busy": async () => {
    const { pool, pass, begun, open } = await gatedPool({ size: 2 });
    await expect.poll(() => pool.stats().workers).toMatchObject({ size: 2, ready: 2, busy: 0 });
    const call = pass("a");
    await begun("a");
    expect(pool.stats().workers).toMatchObject({ ready: 2, busy: 1 });
    await open("a");
    await call;
    await expect.poll(() => pool.stats().workers.busy).toBe(0);
  },
});

behaviours("close()", {
  "settles on a pool without calls": async () => expect(await peerPool().close()).toBeUndefined(),
  "settles on a pool without workers": async () =>
    expect(await peerPool({ size: { min: 0, max: 1 } }).close()).toBeUndefined(),
  "lets all calls finish, also those that wait": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const calls = ["a", "b", "c"].map(pass);
    await begun("a");
    const closed = pool.close();
    await open("a", "b", "c");
    await closed;
    expect(await Promise.all(calls)).toEqual(["a", "b", "c"]);
  },
  "refuses calls that are made afterwards": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const running = pass("a");
    await begun("a");
    const closed = pool.close();
    expect(await outcomes([pass("late")])).toEqual(["pool-closed"]);
    await open("a");
    await Promise.all([closed, running]);
    expect(await outcomes([pass("later")])).toEqual(["pool-closed"]);
  },
  "with dropWaiting finishes what runs, and fails what waits": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const all = outcomes(["a", "b", "c"].map(pass));
    await begun("a");
    const closed = pool.close({ dropWaiting: true });
    await open("a");
    await closed;
    expect(await all).toEqual(["a", "pool-closed", "pool-closed"]);
  },
  "with a time fails the calls that take longer, and ends their workers": async () => {
    const pool = peerPool();
    const all = outcomes([pool.call.deaf()]);
    await pool.close({ timeoutMs: 1 });
    expect(await all).toEqual(["pool-closed"]);
    expect(pool.stats().workers.size).toBe(0);
  },
  "with a time that is over prints no warning": async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const pool = peerPool();
    const all = outcomes([pool.call.deaf()]);
    await pool.close({ timeoutMs: 1 });
    await all;
    // Node emits a warning in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  },
  "may be called twice": async () => {
    const pool = peerPool();
    await Promise.all([pool.close(), pool.close()]);
    await pool.close();
  },
  "is what `await using` calls": async () => {
    const pool = peerPool();
    await pool[Symbol.asyncDispose]();
    expect(await outcomes([pool.call.who()])).toEqual(["pool-closed"]);
  },
});

behaviours("terminate()", {
  "fails the calls that run and those that wait": async () => {
    const pool = peerPool();
    const all = outcomes([pool.call.deaf(), pool.call.deaf(), pool.call.add(1, 2)]);
    await pool.terminate();
    expect(await all).toEqual(["pool-terminated", "pool-terminated", "pool-terminated"]);
  },
  "ends every worker, also one whose thread is blocked": async () => {
    const started = gate<unknown>();
    const pool = peerPool({ size: 2 });
    const all = outcomes([pool.with({ onProgress: started.tell }).call.block()]);
    await started.promise;
    await pool.terminate();
    expect(await all).toEqual(["pool-terminated"]);
    expect(pool.stats().workers.size).toBe(0);
  },
  "may be called twice, and after close()": async () => {
    const pool = peerPool();
    await Promise.all([pool.close(), pool.terminate(), pool.terminate()]);
    await pool.terminate();
  },
});

behaviours("a worker that dies", {
  "by an uncaught error fails its call, and another takes its place": async () => {
    const pool = crashPool();
    const before = await pool.call.who();
    expect(await outcomes([pool.call.stray()])).toEqual(["worker-crashed"]);
    expect(await pool.call.who()).not.toBe(before);
    expect(pool.stats().workers.restarts).toBe(1);
  },
  "by an unhandled rejection fails its call": async () =>
    expect(await outcomes([crashPool().call.strayRejection()])).toEqual(["worker-crashed"]),
  "gives the uncaught error as the cause": async () =>
    expect(await reasonOf(crashPool().call.stray())).toMatchObject({ cause: { name: "RangeError", message: "stray" } }),
  "by process.exit fails its call with its exit code": async () =>
    expect(await reasonOf(crashPool().call.leave(7))).toMatchObject({
      code: "worker-exited",
      message: expect.stringContaining("7"),
    }),
  "after its answer fails no call": async () => {
    const pool = crashPool();
    expect(await pool.call.leaveLater()).toBe("answered");
    expect(await outcomes([pool.call.runs(), pool.call.runs()])).not.toContain("worker-exited");
  },
  "after its answer by an uncaught error tells the pool's listener": async () => {
    const told = gate<unknown>();
    const pool = crashPool({ onError: told.tell });
    expect(await pool.call.strayAfter()).toBe("answered");
    expect(await told.promise).toMatchObject({ message: expect.stringContaining("stray") });
    expect(await pool.call.runs()).toBe(1);
  },
  "by a memory limit fails its call, and another takes its place": async () => {
    const pool = plainPool({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
    expect(await outcomes([pool.call.fillMemory()])).toEqual(["out-of-memory"]);
    expect(await pool.call.add(1, 2)).toBe(3);
  },
  "fails only its own calls, not those of other workers": async () => {
    const pool = crashPool({ size: 2 });
    expect(await outcomes([pool.call.leave(), pool.call.mark(new Int32Array(new SharedArrayBuffer(4)))])).toEqual([
      "worker-exited",
      1,
    ]);
  },
});

behaviours("the events of workers", {
  "tell of each start and each end": async () => {
    const events: WorkerEvent[] = [];
    const pool = peerPool({ size: 2, onWorker: (event) => void events.push(event) });
    await expect.poll(() => events.filter(({ type }) => type === "started")).toHaveLength(2);
    await pool.close();
    await expect.poll(() => events.filter(({ type }) => type === "exited")).toHaveLength(2);
  },
  "tell of an end with its error, and of the start after it": async () => {
    const events: WorkerEvent[] = [];
    const pool = crashPool({ onWorker: (event: WorkerEvent) => void events.push(event) });
    await reasonOf(pool.call.leave());
    await pool.call.who();
    expect(events).toMatchObject([
      { type: "started" },
      { type: "exited", error: { code: "worker-exited" } },
      { type: "started" },
    ]);
  },
  "tell when the first worker is ready, by ready()": async () => {
    const pool = peerPool();
    await pool.ready();
    expect(pool.stats().workers.ready).toBe(1);
  },
});
