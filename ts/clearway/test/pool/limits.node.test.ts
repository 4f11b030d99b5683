// SPDX-License-Identifier: MIT OR Apache-2.0
// Limits of time judge what has arrived, and not what this thread has read.
import { expect, test, vi } from "vitest";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { builtUrl, gate, inProcesses, reasonOf, testPool } from "../fixtures/pools.js";

type Limits = typeof import("../fixtures/limits.tasks.js");

/** Replaces the pool's timers by fake ones, so that its limits pass on demand. */
const ownTimers = (): void => useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

const cellsOf = (): Int32Array => new Int32Array(new SharedArrayBuffer(8));

test.skipIf(inProcesses).each(["timeoutMs", "deadlineMs"])(
  "a call whose answer has arrived before %s is over succeeds, although this thread was blocked",
  async (limit) => {
    const pool = testPool<Limits>(builtUrl("limits"));
    await pool.ready();
    ownTimers();
    const cells = cellsOf();
    const begun = gate<unknown>();
    const call = pool.with({ [limit]: 10, onProgress: begun.tell }).call.answer(cells);
    await begun.promise;
    Atomics.store(cells, 1, 1);
    expect(Atomics.wait(cells, 0, 0, 60_000)).not.toBe("timed-out");
    vi.advanceTimersByTime(10);
    expect(await call).toBe("answer");
  },
);

test.skipIf(inProcesses)(
  "a cancelled task that has stopped within its grace period keeps its worker, although this thread was blocked",
  async () => {
    const pool = testPool<Limits>(builtUrl("limits"));
    await pool.ready();
    ownTimers();
    const cells = cellsOf();
    const begun = gate<unknown>();
    const controller = new AbortController();
    const { call } = pool.with({ signal: controller.signal, onProgress: begun.tell });
    const cancelled = reasonOf(call.stop(cells));
    await begun.promise;
    controller.abort();
    expect(Atomics.wait(cells, 0, 0, 60_000)).not.toBe("timed-out");
    vi.advanceTimersByTime(1000);
    await cancelled;
    await pool.ping();
    expect(pool.stats().workers.restarts).toBe(0);
  },
);

test("a task that gives a promise of a subclass is awaited by the subclass's own then", async () => {
  expect(await testPool<Limits>(builtUrl("limits")).call.lazily()).toBe("found");
});

test("a task whose promise settles twice ends once, and later calls have their limits", async () => {
  const pool = testPool<Limits>(builtUrl("limits"));
  expect(await pool.with({ timeoutMs: 60_000 }).call.twice()).toBe(1);
  expect(await reasonOf(pool.with({ timeoutMs: 1 }).call.never())).toMatchObject({ code: "timeout" });
});
