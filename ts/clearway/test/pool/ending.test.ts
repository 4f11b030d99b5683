// SPDX-License-Identifier: MIT OR Apache-2.0
// Child processes, too: a process ends in other steps than a thread.
// Every host: threads, processes and web workers end differently.
import { pool, run } from "clearway";
import { describe, expect, test } from "vitest";
import { gates, held, type Plain, plainPool, plainUrl, reasonOf, warmed } from "../fixtures/pools.js";

describe("close()", () => {
  test("finishes all calls, refuses new ones, and ends every worker", async () => {
    const made = plainPool({ size: 2 });
    const calls = Array.from({ length: 50 }, (_, at) => made.call.later(at));
    const closing = made.close();
    const refused = reasonOf(made.call.add(1, 1));
    const refusedStream = reasonOf(made.call.numbers(1).next());
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    await closing;
    expect(await refused).toMatchObject({ code: "pool-closed" });
    expect(await refusedStream).toMatchObject({ code: "pool-closed" });
    expect(await reasonOf(made.ready())).toMatchObject({ code: "pool-closed" });
    expect(made.stats()).toMatchObject({ open: 0, workers: { size: 0, restarts: 0 } });
  });

  test("can be called again, and by `await using`", async () => {
    const made = plainPool();
    await made.call.add(1, 2);
    await Promise.all([made.close(), made.close()]);
    await made.close();
    let workers: () => number;
    {
      await using used = pool<Plain>(plainUrl, { size: 1 });
      workers = () => used.stats().workers.size;
      expect(await used.call.add(1, 2)).toBe(3);
      expect(workers()).toBe(1);
    }
    expect(workers()).toBe(0);
  });

  test("waits until the callers of failed calls have their errors", async () => {
    const made = await warmed(plainPool({ concurrency: 4 }));
    const told: string[] = [];
    const tell = () => void told.push("caller");
    made.call.fail("no").catch(tell);
    made.with({ timeoutMs: 5_000 }).call.fail("no").catch(tell);
    made.call.throwsAfter(0).next().catch(tell);
    await made.close();
    expect(told).toEqual(["caller", "caller", "caller"]);
  });

  test("with a limit of time ends a pool that is closing without one", async () => {
    const made = await warmed(plainPool());
    const { ended } = await held(made);
    const closing = made.close({ timeoutMs: Number.POSITIVE_INFINITY });
    await made.close({ timeoutMs: 1 });
    await closing;
    expect(await ended).toMatchObject({ code: "pool-closed" });
    expect(made.stats().workers.size).toBe(0);
  });

  test("ends a pool that was never used", async () => {
    const made = plainPool({ size: 2 });
    await made.close();
    expect(made.stats().workers.size).toBe(0);
  });

  test("fails a task and an unread stream that exceed its timeoutMs", async () => {
    const made = await warmed(plainPool());
    const stream = made.with({ window: { items: 1 } }).call.numbers(100);
    await stream.next();
    const { ended } = await held(made);
    await made.close({ timeoutMs: 1 });
    expect(await ended).toMatchObject({ code: "pool-closed" });
    // The value that had arrived is still delivered.
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(stream.next())).toMatchObject({ code: "pool-closed" });
    expect(made.stats().workers.size).toBe(0);
  });
});

describe("close({ dropWaiting: true })", () => {
  /** Creates a pool with one running call and some that wait. */
  async function busy() {
    const made = await warmed(plainPool());
    const { ended: running, release } = await held(made);
    const waiting = [
      made.call.later(1),
      made.with({ key: "k", priority: 1 }).call.later(2),
      made.call.numbers(3).next(),
      Promise.resolve(made.map.later([1, 2])),
      made.broadcast.later(3),
    ].map((each) => reasonOf(each));
    await expect.poll(() => made.stats().queue.items).toBeGreaterThanOrEqual(6);
    return { made, running, waiting, finish: () => void release(new RangeError("finished")) };
  }

  test("fails the calls that wait at once, and finishes the call that runs", async () => {
    const { made, running, waiting, finish } = await busy();
    let closed = false;
    const closing = made.close({ dropWaiting: true }).then(() => {
      closed = true;
    });
    for (const reason of await Promise.all(waiting)) expect(reason).toMatchObject({ code: "pool-closed" });
    expect(made.stats()).toMatchObject({ open: 1, queue: { items: 0 }, workers: { busy: 1 } });
    expect(closed).toBe(false);
    finish();
    expect(await running).toMatchObject({ message: "finished" });
    await closing;
    expect(made.stats()).toMatchObject({ open: 0, workers: { size: 0, restarts: 0 } });
  });

  test("works on a pool that is closing already", async () => {
    const { made, running, waiting, finish } = await busy();
    const closing = made.close();
    const dropping = made.close({ dropWaiting: true });
    for (const reason of await Promise.all(waiting)) expect(reason).toMatchObject({ code: "pool-closed" });
    finish();
    await Promise.all([running, closing, dropping]);
  });

  test("is refused with another value", async () => {
    const made = plainPool();
    expect(await reasonOf(made.close({ dropWaiting: 1 as never }))).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("dropWaiting"),
    });
    expect(await made.call.add(1, 2)).toBe(3);
  });
});

describe("terminate()", () => {
  test("fails every call at once, also running ones, and ends every worker", async () => {
    const made = await warmed(plainPool({ size: 2, graceMs: 600_000 }));
    const calls = [made.call.forEver(), made.call.never(), ...Array.from({ length: 20 }, () => made.call.later(1))];
    const stream = made.call.numbers(100);
    const reading = reasonOf(stream.next());
    const all = Promise.all(calls.map((each) => reasonOf(each)));
    await made.terminate();
    for (const reason of await all) expect(reason).toMatchObject({ code: "pool-terminated" });
    expect(await reading).toMatchObject({ code: "pool-terminated" });
    expect(await reasonOf(made.call.add(1, 1))).toMatchObject({ code: "pool-terminated" });
    expect(made.stats()).toMatchObject({ open: 0, queue: { items: 0 }, workers: { size: 0 } });
  });

  test("overrides a pending close()", async () => {
    const made = await warmed(plainPool());
    const holding = reasonOf(made.call.never());
    const closing = made.close();
    await made.terminate();
    await closing;
    expect(await holding).toMatchObject({ code: "pool-terminated" });
  });

  test("rejects calls that wait for the first worker", async () => {
    const made = plainPool();
    const ready = reasonOf(made.ready());
    const call = reasonOf(made.call.add(1, 2));
    await made.terminate();
    expect(await ready).toMatchObject({ code: "pool-terminated" });
    expect(await call).toMatchObject({ code: "pool-terminated" });
  });
});

describe("run()", () => {
  test("ends its worker when a stream is left, before or after its first value", async () => {
    const unread = run<Plain>(plainUrl).call.numbers(3);
    expect(await unread.return("mine")).toEqual({ done: true, value: "mine" });
    for await (const each of run<Plain>(plainUrl).call.numbers(1000)) if (each === 5) break;
  });

  test("rejects with the signal's reason at once, although its task ignores the signal", async () => {
    const { channel, begun, open } = gates();
    const controller = new AbortController();
    const { call } = run<Plain>(plainUrl, { signal: controller.signal, graceMs: 600_000 });
    const ended = reasonOf(call.passesAnyway("late", channel));
    await begun("late");
    const reason = new RangeError("not needed any more");
    controller.abort(reason);
    expect(await ended).toBe(reason);
    // The worker ends with its task.
    await open("late");
  });

  test("accepts options like a pool", async () => {
    const { call } = run<Plain>(plainUrl, { timeoutMs: 5, graceMs: 1 });
    expect(await reasonOf(call.forEver())).toMatchObject({ code: "timeout" });
    expect(
      await reasonOf(
        run<Plain>(plainUrl, { signal: AbortSignal.abort("early") })
          .call.add(1, 1)
          .catch(String)
          .then((reason) => Promise.reject({ message: reason })),
      ),
    ).toEqual({ message: "early" });
  });
});
