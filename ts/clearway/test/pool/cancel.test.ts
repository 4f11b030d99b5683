// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: each version of Node terminates a thread otherwise.
// Child processes, too: a process is killed where a thread is terminated.
import type { CallOptions, PoolOptions } from "clearway";
import { describe, expect, test, vi } from "vitest";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { gate, held, inProcesses, plainPool, reasonOf, warmed } from "../fixtures/pools.js";

const shared = typeof SharedArrayBuffer === "function" && !inProcesses;

/** Creates a ready pool, and a function that makes a call and reports when its task has started. */
async function warm(options: PoolOptions = {}) {
  // A task that stops on a cancel does so within this time, however slow the machine is. Other tests set their own.
  const pool = await warmed(plainPool({ graceMs: 600_000, ...options }));
  const starting = (callOptions: CallOptions = {}) => {
    const started = gate();
    return { started: started.promise, call: pool.with({ ...callOptions, onProgress: () => started.tell() }).call };
  };
  return { ...pool, starting };
}

describe("cancelling a waiting call", () => {
  test("drops it before it runs, and rejects with the signal's reason at once", async () => {
    const pool = await warm();
    const { release } = await held(pool);
    const controller = new AbortController();
    const waiting = pool.with({ signal: controller.signal }).call.count();
    expect(pool.stats().queue.items).toBe(1);
    controller.abort(new RangeError("not any more"));
    expect(await reasonOf(waiting)).toMatchObject({ name: "RangeError", message: "not any more" });
    expect(pool.stats().queue.items).toBe(0);
    await release();
    expect(await pool.call.count()).toBe(1);
  });

  test("prevents it from being sent when the signal was aborted before", async () => {
    const { call, with: withOptions } = await warm();
    const aborted = AbortSignal.abort("early");
    await expect(withOptions({ signal: aborted }).call.count()).rejects.toBe("early");
    expect(await call.count()).toBe(1);
  });
});

describe("cancelling a running call", () => {
  test("rejects with the signal's own reason at once, and aborts the task", async () => {
    const { starting, call, stats } = await warm();
    const controller = new AbortController();
    const { started, call: starter } = starting({ signal: controller.signal });
    const running = starter.hold();
    await started;
    const reason = new RangeError("enough");
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(await call.count()).toBe(1);
    expect(stats()).toMatchObject({ open: 0, workers: { restarts: 0 } });
  });

  test("passes the complete reason to the task", async () => {
    const { starting, call } = await warm();
    const controller = new AbortController();
    const { started, call: starter } = starting({ signal: controller.signal });
    const running = reasonOf(starter.seesReason());
    await started;
    controller.abort(Object.assign(new RangeError("enough"), { code: "E_MINE" }));
    await running;
    expect(await call.reasonSeen()).toBe("RangeError E_MINE enough");
  });

  test.runIf(shared)("reaches a loop that never yields its thread, and the worker stays", async () => {
    const { starting, call, stats } = await warm({ graceMs: 600_000 });
    await call.count();
    const controller = new AbortController();
    const { started, call: starter } = starting({ signal: controller.signal });
    const running = reasonOf(starter.hotLoop());
    await started;
    controller.abort();
    expect(await running).toMatchObject({ name: "AbortError" });
    expect(await call.count()).toBe(2);
    expect(stats().workers.restarts).toBe(0);
  });

  test("replaces its worker after graceMs when the task does not stop, without failing other calls", async () => {
    const pool = await warm({ size: 2, graceMs: 1 });
    // A worker that has answered calls is replaced at once. Another one would be replaced only when it is needed.
    await pool.call.add(1, 1);
    const controller = new AbortController();
    const deaf = pool.starting({ signal: controller.signal });
    const other = pool.starting();
    const running = reasonOf(deaf.call.deaf());
    await deaf.started;
    const beside = other.call.report(5);
    await other.started;
    const queued = Array.from({ length: 20 }, (_, at) => pool.call.later(at));
    controller.abort(new RangeError("stop"));
    expect(await running).toMatchObject({ message: "stop" });
    expect(await beside).toBe(5);
    expect(await Promise.all(queued)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    await expect.poll(() => pool.stats().workers).toMatchObject({ size: 2, ready: 2, restarts: 1 });
  });

  test("ends a task that spins forever, and calls behind it run", async () => {
    const pool = await warm({ graceMs: 1 });
    const spinning = reasonOf(pool.with({ timeoutMs: 1 }).call.forEver());
    const waiting = pool.call.add(1, 2);
    expect(await spinning).toMatchObject({ code: "timeout" });
    expect(await waiting).toBe(3);
  });

  test("lets other calls in its worker finish before the worker is replaced", async () => {
    const pool = await warm({ concurrency: 4, graceMs: 100 });
    const controller = new AbortController();
    const deaf = pool.starting({ signal: controller.signal });
    const running = reasonOf(deaf.call.deaf());
    await deaf.started;
    const { release } = await held(pool);
    controller.abort(new RangeError("stop"));
    await running;
    // The worker takes no more calls, and ends after its last one. Its replacement may already be there.
    await expect
      .poll(() => {
        const { ready, size } = pool.stats().workers;
        return ready === 0 || size === 2;
      })
      .toBe(true);
    expect(await release(new RangeError("mine"))).toMatchObject({ message: "mine" });
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test.skipIf(inProcesses)("lets another cancelled call in its worker use its own grace period", async () => {
    const pool = await warm({ concurrency: 2, graceMs: 1000 });
    const channelName = `cleans-up-${crypto.randomUUID()}`;
    const channel = new BroadcastChannel(channelName);
    const told: unknown[] = [];
    channel.onmessage = ({ data }) => told.push(data);
    const stop = { deaf: new AbortController(), clean: new AbortController() };
    const deaf = pool.starting({ signal: stop.deaf.signal });
    const clean = pool.starting({ signal: stop.clean.signal });
    const calls = [reasonOf(deaf.call.deaf()), reasonOf(clean.call.cleansUp(channelName))];
    await Promise.all([deaf.started, clean.started]);
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    stop.deaf.abort();
    vi.advanceTimersByTime(900);
    stop.clean.abort();
    await Promise.all(calls);
    // The first call's grace period ends, and the second one's goes on.
    vi.advanceTimersByTime(100);
    useRealTimers();
    await expect.poll(() => told).toContain("cleaning");
    channel.postMessage("end");
    await expect.poll(() => told).toContain("clean");
    channel.close();
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

test("a call that does not stop leaves no ready() waiting while other calls in its worker go on", async () => {
  const pool = await warm({ size: { min: 0, max: 1 }, concurrency: 2, graceMs: 1000 });
  const stop = { deaf: new AbortController(), beside: new AbortController() };
  const deaf = pool.starting({ signal: stop.deaf.signal });
  const beside = pool.starting({ signal: stop.beside.signal });
  const [deafEnd, besideEnd] = [reasonOf(deaf.call.deaf()), reasonOf(beside.call.hold())];
  await Promise.all([deaf.started, beside.started]);
  useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  stop.deaf.abort();
  await deafEnd;
  // The grace period ends. The worker takes no more calls, and keeps its index until it has answered a ping.
  vi.advanceTimersByTime(1000);
  const ready = pool.ready();
  useRealTimers();
  await ready;
  expect(pool.stats().workers.ready).toBe(1);
  stop.beside.abort();
  await besideEnd;
});

describe("a time limit", () => {
  test("of timeoutMs counts from the task's start, not from the call", async () => {
    const pool = await warm();
    const { release } = await held(pool);
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    // Waits much longer than its timeoutMs, which only applies to a started task.
    const waiting = pool.with({ timeoutMs: 5 }).call.add(1, 1);
    const late = reasonOf(pool.with({ deadlineMs: 20 }).call.add(1, 1));
    vi.advanceTimersByTime(20);
    expect(await late).toMatchObject({ code: "deadline", message: expect.stringContaining("20 ms") });
    await release();
    expect(await waiting).toBe(2);
  });

  test("of timeoutMs ends a task that runs too long", async () => {
    const pool = await warm({ graceMs: 600_000 });
    expect(await reasonOf(pool.with({ timeoutMs: 5 }).call.hold())).toMatchObject({ code: "timeout" });
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("of deadlineMs counts from the call, and ends a running task", async () => {
    const pool = await warm();
    expect(await reasonOf(pool.with({ deadlineMs: 5 }).call.hold())).toMatchObject({ code: "deadline" });
  });
});

describe("a settled call", () => {
  test("leaves no listener on its signal, for every outcome", async () => {
    const pool = await warm();
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const { call } = pool.with({ signal });
    await call.add(1, 2);
    await reasonOf(call.fail("x"));
    await reasonOf(call.echo(() => 1));
    await reasonOf((call as unknown as Record<string, () => Promise<void>>)["nope"]!());
    for await (const each of call.numbers(5)) if (each === 2) break;
    for await (const _each of call.numbers(5));
    expect(added.mock.calls.length).toBeGreaterThan(3);
    expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
      added.mock.calls.map(([, listener]) => listener),
    );
  });

  test("leaves no timer", async () => {
    const pool = await warm();
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { call } = pool.with({ timeoutMs: 1e6, deadlineMs: 1e6 });
    await call.add(1, 2);
    await reasonOf(call.fail("x"));
    for await (const each of call.numbers(5)) if (each === 2) break;
    // Node unreferences a worker after 10 ms of idling. That timer may or may not exist at this moment.
    vi.advanceTimersByTime(20);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("progress", () => {
  test("arrives in order, before the result", async () => {
    const pool = await warm();
    const told: unknown[] = [];
    expect(await pool.with({ onProgress: (value) => told.push(value) }).call.report(100)).toBe(100);
    expect(told).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  test("that cannot be cloned arrives as an error, and the call continues", async () => {
    const pool = await warm();
    const told: unknown[] = [];
    expect(await pool.with({ onProgress: (value) => told.push(value) }).call.reportFunction()).toBe("done");
    expect(told).toEqual([expect.objectContaining({ code: "not-cloneable" })]);
  });

  test("whose listener throws fails its own call, and no other answer", async () => {
    const pool = await warm({ concurrency: 4 });
    const mine = new RangeError("in the listener");
    const bad = pool.with({
      onProgress: () => {
        throw mine;
      },
    });
    const [failed, ...others] = await Promise.allSettled([
      bad.call.report(3),
      pool.call.add(1, 1),
      pool.call.add(2, 2),
    ]);
    expect((failed as PromiseRejectedResult).reason).toBe(mine);
    expect(others).toEqual([
      { status: "fulfilled", value: 2 },
      { status: "fulfilled", value: 4 },
    ]);
  });
});

test("a listener of progress that rejects fails its call while that is open, and does nothing later", async () => {
  const pool = await warm();
  const mine = new RangeError("in the listener");
  expect(await reasonOf(pool.with({ onProgress: () => Promise.reject(mine) }).call.hold())).toBe(mine);
  const late = gate();
  const onProgress = () => late.promise.then(() => Promise.reject(mine));
  expect(await pool.with({ onProgress }).call.report(1)).toBe(1);
  late.tell();
  expect(await pool.call.add(1, 2)).toBe(3);
});

describe("a call that does not stop, in a worker that runs several at once,", () => {
  test("fails no call that has not started: another worker runs it", async () => {
    const pool = plainPool({ concurrency: 3, graceMs: 1 });
    await pool.call.add(1, 1);
    const stuck = reasonOf(pool.with({ timeoutMs: 1 }).call.forEver());
    const behind = [pool.call.add(1, 2), pool.with({ timeoutMs: 60_000 }).call.add(2, 2)];
    expect(await stuck).toMatchObject({ code: "timeout" });
    expect(await Promise.all(behind)).toEqual([3, 4]);
  });

  test.each(["before", "after"])("fails the calls that started %s it", async (when) => {
    const pool = plainPool({ concurrency: 3, graceMs: 1 });
    await pool.call.add(1, 1);
    const begun = gate();
    const begin = () => reasonOf(pool.with({ onProgress: () => begun.tell() }).call.deaf());
    const stop = new AbortController();
    const stuckToo = when === "after" ? reasonOf(pool.with({ signal: stop.signal }).call.spinLater()) : undefined;
    const beside = begin();
    await begun.promise;
    if (when === "before") {
      expect(await reasonOf(pool.with({ timeoutMs: 1 }).call.forEver())).toMatchObject({ code: "timeout" });
    } else stop.abort();
    await stuckToo;
    expect(await beside).toMatchObject({ code: "worker-crashed" });
  });
});
