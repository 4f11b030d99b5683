// SPDX-License-Identifier: MIT OR Apache-2.0
import { type PoolOptions, pool } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { gate, reasonOf } from "../fixtures/pools.js";

type Things = typeof import("../fixtures/resource.tasks.js");

const url = new URL("../fixtures/built/resource.tasks.js", import.meta.url);

const graceMs = 60_000;

/** Creates a pool of one worker that logs what its resources do. `seen()` waits until the log is as expected. */
async function thingPool(options: PoolOptions = {}) {
  const things = pool<Things>(url, { size: 1, graceMs, ...options });
  const name = `clearway-test-${Math.random()}`;
  const channel = new BroadcastChannel(name);
  const log: string[] = [];
  channel.onmessage = ({ data }: MessageEvent<string>) => log.push(data);
  onTestFinished(async () => {
    await things.terminate();
    channel.close();
  });
  await things.call.listen(name);
  return { things, log, seen: (expected: string[]) => expect.poll(() => log).toEqual(expected) };
}

/** Replaces the pool's timers by fake ones, so that its time limits pass on demand. */
const ownTimers = (): void => useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

/** Advances the pool's timers until the promise settles. */
async function passUntil<T>(settled: Promise<T>): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  settled.then(end, end);
  while (!over) {
    vi.advanceTimersByTime(10);
    await turn();
  }
  return settled;
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => {
      port2.close();
      resolve();
    };
    port1.postMessage(0);
  });

describe("a resource", () => {
  test("is opened when a task first needs it, in its worker, and reused by the next task", async () => {
    const { things, log, seen } = await thingPool();
    expect(await things.call.add(1, 2)).toBe(3);
    expect(await things.call.exposed()).toBe(0);
    expect(await things.call.plain()).toBe("plain 1");
    expect(await things.call.plain()).toBe("plain 1");
    await seen(["open plain 1"]);
    expect(log).toHaveLength(1);
  });

  test("that opens slowly does not delay a cancelled call, and is kept for the next one", async () => {
    const { things } = await thingPool();
    const controller = new AbortController();
    const { call } = things.with({ signal: controller.signal });
    const cancelled = reasonOf(call.slow());
    // The worker's thread is free while the resource opens, but it runs one task at a time. Only a ping gets through.
    await things.ping();
    controller.abort();
    await cancelled;
    expect(await things.call.isOpening()).toBe(true);
    await things.call.letOpen();
    expect(await things.call.slow()).toBe("slow 1");
    expect(things.stats().workers.restarts).toBe(0);
  });

  test("stays leased to a stream until the stream ends", async () => {
    const { things } = await thingPool();
    const names: string[] = [];
    // More values than the window allows the task to produce ahead.
    for await (const name of things.with({ window: { items: 2 } }).call.names(9)) {
      names.push(name);
      if (names.length === 1) expect(await things.call.plain()).toBe("plain 2");
    }
    expect(names).toEqual(new Array(9).fill("plain 1"));
  });

  test("is closed after its idle time, and reopened when it is needed again", async () => {
    const { things, seen } = await thingPool();
    expect(await things.call.brief()).toBe("brief 1");
    await seen(["open brief 1", "close brief 1"]);
    expect(await things.call.brief()).toBe("brief 2");
  });

  test("has one holder at a time, and is closed with its pool", async () => {
    const { things, seen } = await thingPool({ concurrency: 2 });
    const names = await Promise.all([things.call.together(), things.call.together()]);
    expect(names.sort()).toEqual(["plain 1", "plain 2"]);
    await things.close();
    await seen(["open plain 1", "open plain 2", "close plain 1", "close plain 2"]);
  });

  test("is kept and checked after a task that failed", async () => {
    const { things, seen } = await thingPool();
    expect(await reasonOf(things.call.fail())).toMatchObject({ message: "with plain 1" });
    expect(await things.call.plain()).toBe("plain 1");
    await seen(["open plain 1", "check plain 1"]);
  });

  test("of a cancelled task has its cancel called at once, and is then closed, because its state is unknown", async () => {
    const { things, seen } = await thingPool();
    const controller = new AbortController();
    const begun = gate<unknown>();
    const held = things.with({ signal: controller.signal, onProgress: begun.tell }).call.hold();
    expect(await begun.promise).toBe("plain 1");
    const why = new Error("enough");
    controller.abort(why);
    expect(await reasonOf(held)).toBe(why);
    expect(await things.call.plain()).toBe("plain 2");
    await seen(["open plain 1", "cancel plain 1", "close plain 1", "open plain 2"]);
  });

  test("has its cancel called when its task times out, even when the task ignores its signal", async () => {
    const { things, seen } = await thingPool();
    // Opens the resource first: a call that times out while its resource opens has not started, and its worker stays.
    expect(await things.call.plain()).toBe("plain 1");
    ownTimers();
    const deaf = reasonOf(things.with({ timeoutMs: 10 }).call.deaf());
    expect(await passUntil(deaf)).toMatchObject({ code: "timeout" });
    await seen(["open plain 1", "cancel plain 1"]);
    vi.advanceTimersByTime(graceMs);
    // The worker was replaced, and the new one had not opened anything.
    expect(await things.call.plain()).toBe("plain 1");
  });

  test("that cannot be opened fails only its task, with the cause", async () => {
    const { things } = await thingPool({ concurrency: 2 });
    await things.call.set({ open: false });
    const [bad, good] = await Promise.allSettled([things.call.plain(), things.call.add(1, 1)]);
    expect(good).toEqual({ status: "fulfilled", value: 2 });
    const { reason } = bad as PromiseRejectedResult;
    expect(reason).toMatchObject({
      code: "resource-failed",
      message: 'the resource "thing" could not be opened: no route',
      cause: { name: "RangeError", message: "no route" },
    });
    await things.call.set({ open: true });
    expect(await things.call.plain()).toBe("plain 1");
  });

  test("whose close takes longer than the grace period does not end the worker of a cancelled task that has stopped", async () => {
    const { things, seen } = await thingPool();
    await things.call.set({ closeHangs: true });
    ownTimers();
    const controller = new AbortController();
    const begun = gate<unknown>();
    const held = reasonOf(things.with({ signal: controller.signal, onProgress: begun.tell }).call.hold());
    await begun.promise;
    controller.abort();
    await held;
    await seen(["open plain 1", "cancel plain 1", "close plain 1"]);
    await things.ping();
    vi.advanceTimersByTime(graceMs);
    await things.ping();
    expect(things.stats().workers.restarts).toBe(0);
  });

  test("whose close hangs does not delay its pool's close forever", async () => {
    const { things, seen } = await thingPool();
    expect(await things.call.plain()).toBe("plain 1");
    await things.call.set({ closeHangs: true });
    ownTimers();
    const closed = things.close();
    await seen(["open plain 1", "close plain 1"]);
    await passUntil(closed);
    expect(things.stats().workers.size).toBe(0);
  });
});
