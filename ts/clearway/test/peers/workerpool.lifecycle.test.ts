// SPDX-License-Identifier: MIT OR Apache-2.0
import type { PoolOptions, WorkerEvent } from "clearway";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtUrl, gate, reasonOf, testPool } from "../fixtures/pools.js";
import type { SetupOrder } from "../fixtures/setup.tasks.js";
import { behaviours, gatedPool, outcomes, peerPool } from "./behaviours.js";

type Crash = typeof import("../fixtures/crash.tasks.js");
type Setup = typeof import("../fixtures/setup.tasks.js");
/** Creates a pool whose workers prepare themselves with these data. It ends with its test. */
const setupPool = (setup: SetupOrder, options: PoolOptions = {}) =>
  testPool<Setup>(builtUrl("setup"), { ...options, setup: setup as never });
type Resource = typeof import("../fixtures/resource.tasks.js");

/** Starts a task that runs until it is cancelled. The `cancel` of the result cancels it. */
async function started(task: "hold" | "deaf" | "block" | "cleansUp", graceMs = 60_000) {
  const pool = peerPool({ graceMs });
  const before = await pool.call.who();
  const begun = gate<unknown>();
  const controller = new AbortController();
  const call = pool.with({ signal: controller.signal, onProgress: begun.tell }).call[task]();
  call.catch(() => {});
  await begun.promise;
  return { pool, before, call, cancel: () => controller.abort() };
}

behaviours("the cancellation of a call", {
  "rejects it with an error of its own kind": async () => {
    const { call, cancel } = await started("hold");
    cancel();
    expect(await reasonOf(call)).toMatchObject({ name: "AbortError" });
  },
  "rejects it even if the task never ends": async () => {
    const { call, cancel } = await started("deaf", 1);
    cancel();
    expect(await outcomes([call])).toEqual(["AbortError"]);
  },
  "ends a task that blocks its worker": async () => {
    const { pool, before, call, cancel } = await started("block", 1);
    cancel();
    expect(await outcomes([call])).toEqual(["AbortError"]);
    expect(await pool.call.who()).not.toBe(before);
  },
  "twice is like once": async () => {
    const { pool, call, cancel } = await started("hold");
    cancel();
    cancel();
    expect(await outcomes([call, pool.call.add(1, 1)])).toEqual(["AbortError", 2]);
  },
  "lets the task clean up, and keeps its worker if it does (workerpool's abort listeners)": async () => {
    const { pool, before, call, cancel } = await started("cleansUp");
    cancel();
    await reasonOf(call);
    await expect.poll(() => pool.call.cleaned()).toBe(1);
    expect(await pool.call.who()).toBe(before);
  },
  "replaces the worker if the task does not clean up in time": async () => {
    const { pool, before, call, cancel } = await started("deaf", 1);
    cancel();
    await reasonOf(call);
    expect(await pool.call.who()).not.toBe(before);
    expect(pool.stats().workers.restarts).toBe(1);
  },
  "of a call that waits leaves the running one alone": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const running = pass("running");
    await begun("running");
    const controller = new AbortController();
    const waiting = pool.with({ signal: controller.signal }).call.pass("waiting", channel);
    controller.abort();
    expect(await outcomes([waiting])).toEqual(["AbortError"]);
    await open("running");
    expect(await running).toBe("running");
  },
});

behaviours("a time limit", {
  "ends a task that takes longer": async () =>
    expect(await outcomes([peerPool({ graceMs: 1 }).with({ timeoutMs: 5 }).call.deaf()])).toEqual(["timeout"]),
  "ends a task that blocks its worker": async () => {
    const pool = peerPool({ graceMs: 1 });
    expect(await outcomes([pool.with({ timeoutMs: 5 }).call.block()])).toEqual(["timeout"]);
    expect(await pool.call.add(1, 1)).toBe(2);
  },
  "does not count the time in the queue": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const running = pass("running");
    await begun("running");
    const limited = pool.with({ timeoutMs: 60_000 }).call.pass("limited", channel);
    expect(pool.stats().queue.items).toBe(1);
    await open("running", "limited");
    expect(await outcomes([running, limited])).toEqual(["running", "limited"]);
  },
  "of the whole call counts the time in the queue": async () => {
    const { pool, pass, begun, open, channel } = await gatedPool();
    const running = pass("running");
    await begun("running");
    expect(await outcomes([pool.with({ deadlineMs: 1 }).call.pass("late", channel)])).toEqual(["deadline"]);
    await open("running");
    expect(await running).toBe("running");
  },
  "has no effect on a task that is faster": async () =>
    expect(await peerPool().with({ timeoutMs: 60_000 }).call.add(1, 2)).toBe(3),
});

describe("a queue limit", () => {
  test.each([1, 2, 5])("of %i refuses the call after it, and no earlier one", async (items) => {
    const { pass, begun, open } = await gatedPool({ queue: { items, whenFull: "fail" } });
    const running = pass("running");
    await begun("running");
    const waiting = Array.from({ length: items }, (_, at) => pass(at));
    expect(await outcomes([pass("refused")])).toEqual(["queue-full"]);
    await open("running", ...waiting.keys());
    expect(await Promise.all([running, ...waiting])).toEqual(["running", ...waiting.keys()]);
  });
});

behaviours("the statistics", {
  "of a pool that has done nothing": () =>
    expect(peerPool({ size: { min: 0, max: 2 } }).stats()).toMatchObject({
      workers: { size: 0, ready: 0, busy: 0, restarts: 0 },
      queue: { items: 0, bytes: 0 },
      open: 0,
    }),
  "tell workers that are busy and calls that wait": async () => {
    const { pool, pass, begun, open } = await gatedPool({ size: 2 });
    const calls = ["a", "b", "c"].map(pass);
    await begun("a", "b");
    expect(pool.stats()).toMatchObject({ workers: { size: 2, busy: 2 }, queue: { items: 1 }, open: 3 });
    await open("a", "b", "c");
    await Promise.all(calls);
    expect(pool.stats()).toMatchObject({ queue: { items: 0 }, open: 0 });
  },
});

behaviours("the number of workers", {
  "is the minimum at once": () => expect(peerPool({ size: { min: 2, max: 3 } }).stats().workers.size).toBe(2),
  "is fixed with one number": () => expect(peerPool({ size: 3 }).stats().workers.size).toBe(3),
  "grows with the calls": async () => {
    const { pool, pass, begun, open } = await gatedPool({ size: { min: 0, max: 2 } });
    const calls = [pass("a"), pass("b")];
    await begun("a", "b");
    expect(pool.stats().workers.size).toBe(2);
    await open("a", "b");
    await Promise.all(calls);
  },
});

behaviours("the end of a pool", {
  "waits for the running calls by default": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const running = pass("running");
    await begun("running");
    const closed = pool.close();
    await open("running");
    await closed;
    expect(await running).toBe("running");
    expect(pool.stats().workers.size).toBe(0);
  },
  "fails the calls that wait, if it drops them": async () => {
    const { pool, pass, begun, open } = await gatedPool();
    const all = outcomes([pass("running"), pass("waiting")]);
    await begun("running");
    const closed = pool.close({ dropWaiting: true });
    await open("running");
    await closed;
    expect(await all).toEqual(["running", "pool-closed"]);
  },
  "by force fails all calls": async () => {
    const pool = peerPool();
    const all = outcomes([pool.call.deaf(), pool.call.add(1, 1)]);
    await pool.terminate();
    expect(await all).toEqual(["pool-terminated", "pool-terminated"]);
  },
  "by force after a time": async () => {
    const pool = peerPool();
    const all = outcomes([pool.call.deaf()]);
    await pool.close({ timeoutMs: 5 });
    expect(await all).toEqual(["pool-closed"]);
  },
  "refuses new calls": async () => {
    const [closed, terminated] = [peerPool(), peerPool()];
    await Promise.all([closed.close(), terminated.terminate()]);
    expect(await outcomes([closed.call.who(), terminated.call.who()])).toEqual(["pool-closed", "pool-terminated"]);
  },
  "lets a worker close what it has opened": async () => {
    const pool = testPool<Resource>(builtUrl("resource"));
    const channel = new BroadcastChannel(`peers-${Math.random()}`);
    onTestFinished(() => channel.close());
    const closed = gate<unknown>();
    channel.onmessage = ({ data }) => String(data).startsWith("close") && closed.tell(data);
    await pool.call.listen(channel.name);
    const name = await pool.call.plain();
    await pool.close();
    expect(await closed.promise).toBe(`close ${name}`);
  },
});

behaviours("each worker", {
  "is announced when it has started and when it has ended": async () => {
    const events: WorkerEvent[] = [];
    const pool = peerPool({ size: 2, onWorker: (event) => void events.push(event) });
    await expect.poll(() => events.map(({ type }) => type)).toEqual(["started", "started"]);
    await pool.terminate();
    await expect.poll(() => events.map(({ type }) => type)).toEqual(["started", "started", "exited", "exited"]);
  },
  "is prepared with the data of its pool before its first call": async () => {
    const pool = setupPool({ text: "ready" }, { size: 2 });
    expect(await pool.broadcast.text()).toEqual(["ready", "ready"]);
  },
  "that takes another's place is prepared and announced, too": async () => {
    const events: WorkerEvent[] = [];
    const pool = setupPool({ text: "ready" }, { onWorker: (event) => void events.push(event) });
    await reasonOf(pool.call.leave());
    expect(await pool.call.text()).toBe("ready");
    expect(events.map(({ type }) => type)).toEqual(["started", "exited", "started"]);
  },
  "fails the calls if it cannot be prepared": async () =>
    expect(await outcomes([setupPool({ fail: "error" }).call.text()])).toEqual(["setup-failed"]),
  "that ends by itself fails its call, and others go on": async () => {
    const pool = testPool<Crash>(builtUrl("crash"));
    expect(await outcomes([pool.call.leave()])).toEqual(["worker-exited"]);
    expect(await pool.call.runs()).toBe(1);
  },
  "that ends again and again lets the pool go on": async () => {
    const pool = testPool<Crash>(builtUrl("crash"));
    for (let at = 0; at < 3; at++) expect(await outcomes([pool.call.leave()])).toEqual(["worker-exited"]);
    expect(await pool.call.runs()).toBe(1);
  },
});
