// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: each version of Node ends a thread otherwise.
// Child processes, too: a process crashes in more ways than a thread.
import type { PoolOptions } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { builtUrl, gate, inProcesses, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

const warm = (options: PoolOptions = {}) => warmed(testPool<Crash>(builtUrl("crash"), options));

describe("a worker that exits", () => {
  test("fails its current call, and is replaced", async () => {
    const pool = await warm();
    const before = await pool.call.who();
    expect(await reasonOf(pool.call.leave())).toMatchObject({ name: "ClearwayError", code: "worker-exited" });
    expect(await pool.call.who()).not.toBe(before);
    expect(pool.stats().workers).toMatchObject({ size: 1, restarts: 1 });
  });

  test("fails no call that has not started", async () => {
    const pool = await warm();
    // The pool sends short calls ahead, once it knows that the task is short.
    for (let turn = 0; turn < 20; turn++) await pool.call.runs();
    const answers = await Promise.allSettled([
      pool.call.leave(),
      ...Array.from({ length: 30 }, () => pool.call.runs()),
    ]);
    expect(answers[0]).toMatchObject({ status: "rejected", reason: { code: "worker-exited" } });
    for (const answer of answers.slice(1)) expect(answer.status).toBe("fulfilled");
  });

  test("fails no stream that has not started: another worker runs it", async () => {
    const pool = await warm();
    const leaving = reasonOf(pool.call.leave());
    const seen: number[] = [];
    for await (const each of pool.call.count(40)) seen.push(each);
    expect(seen).toEqual(Array.from({ length: 40 }, (_, at) => at));
    expect(await leaving).toMatchObject({ code: "worker-exited" });
  });

  test("fails a started stream after the values that arrived", async () => {
    const { call } = await warm();
    const stream = call.streamThenLeave();
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(stream.next())).toMatchObject({ code: "worker-exited" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("fails no call when it exits after its answer", async () => {
    const pool = await warm();
    expect(await pool.call.leaveLater()).toBe("answered");
    await expect.poll(() => pool.stats().workers).toMatchObject({ restarts: 1, ready: 1 });
    expect(await pool.call.runs()).toBe(1);
  });

  test("fails its call with worker-exited, even after an earlier uncaught error", async () => {
    const told = gate();
    const pool = await warm({ onError: () => told.tell() });
    expect(await pool.call.strayAfter()).toBe("answered");
    await told.promise;
    // In Node this is another worker by now, in a browser the same one.
    expect(await reasonOf(pool.call.leave())).toMatchObject({ code: "worker-exited" });
  });
});

test("a first call that ends its worker fails as a started call, even when the exit arrives with the worker's start", async () => {
  for (let round = 0; round < 5; round++) {
    const pool = testPool<Crash>(builtUrl("crash"), { concurrency: 4 });
    const [left, after] = [reasonOf(pool.call.leave()), pool.call.who()];
    // The call has been sent. The worker runs it while this thread is blocked, and all its messages arrive together afterwards.
    await new Promise((resolve) => setTimeout(resolve));
    hold(round * 60);
    expect(await left).toMatchObject({ code: "worker-exited" });
    expect(await after).toBeTruthy();
    await pool.close();
  }
});

function hold(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe.runIf(typeof SharedArrayBuffer === "function" && !inProcesses)("retries", () => {
  const cell = () => new Int32Array(new SharedArrayBuffer(4));

  test("run a call again when its worker died during the call", async () => {
    const pool = await warm();
    expect(await pool.with({ retries: 1 }).call.leaveOnce(cell())).toBe(2);
  });

  test("are off by default", async () => {
    const pool = await warm();
    expect(await reasonOf(pool.call.leaveOnce(cell()))).toMatchObject({ code: "worker-exited" });
  });

  test("are not needed for a call behind one that ended its worker: it runs once, in the next worker", async () => {
    // Both calls are in one message, and the worker may run both at once. A browser's worker continues after it has closed itself.
    const pool = testPool<Crash>(builtUrl("crash"), { concurrency: 4 });
    const [left, marked] = [reasonOf(pool.call.leave()), pool.call.mark(cell())];
    expect(await left).toMatchObject({ code: "worker-exited" });
    expect(await marked).toBe(1);
  });

  test("end after the given number", async () => {
    const pool = await warm();
    expect(await reasonOf(pool.with({ retries: 2 }).call.leave())).toMatchObject({ code: "worker-exited" });
    expect(pool.stats().workers.restarts).toBe(3);
  });

  test("never apply to a stream", async () => {
    const pool = await warm();
    const stream = pool.with({ retries: 5 }).call.streamThenLeave();
    expect((await stream.next()).value).toBe(1);
    expect(await reasonOf(stream.next())).toMatchObject({ code: "worker-exited" });
  });
});

// Whether the worker has answered a call before makes no difference.
describe.each([0, 1])("onError, after %i answered calls,", (answered) => {
  const listened = async () => {
    const told: unknown[] = [];
    const heard = gate<unknown>();
    const pool = await warm({ onError: (error) => heard.tell(told.push(error)) });
    for (let turn = 0; turn < answered; turn++) await pool.call.who();
    return { pool, told, heard: heard.promise };
  };

  test("receives no exit with which a call fails", async () => {
    const { pool, told } = await listened();
    expect(await reasonOf(pool.call.leave())).toMatchObject({ code: "worker-exited" });
    expect(await pool.call.runs()).toBe(1);
    expect(told).toEqual([]);
  });

  // A worker in a browser survives the error, and the call waits on.
  test.runIf(typeof process === "object" && process.versions?.node)(
    "receives no uncaught error with which a call fails",
    async () => {
      const { pool, told } = await listened();
      expect(await reasonOf(pool.call.stray())).toMatchObject({ code: "worker-crashed" });
      expect(await pool.call.runs()).toBe(1);
      expect(told).toEqual([]);
    },
  );

  test("receives the exit of an idle worker, once", async () => {
    const { pool, told, heard } = await listened();
    expect(await pool.call.leaveLater()).toBe("answered");
    await heard;
    expect(await pool.call.runs()).toBe(1);
    expect(told).toEqual([expect.objectContaining({ code: "worker-exited" })]);
  });

  test("receives the uncaught error of an idle worker, once", async () => {
    const { pool, told, heard } = await listened();
    expect(await pool.call.strayAfter()).toBe("answered");
    await heard;
    expect(await pool.call.runs()).toBeGreaterThan(0);
    expect(told).toEqual([expect.objectContaining({ message: expect.stringContaining("stray") })]);
  });
});

describe("an uncaught error outside any call", () => {
  test("is passed to onError", async () => {
    const told: unknown[] = [];
    const pool = await warm({ onError: (error) => told.push(error) });
    expect(await pool.call.strayAfter()).toBe("answered");
    await expect.poll(() => told.length).toBeGreaterThan(0);
    expect(String((told[0] as Error).message)).toContain("stray");
    expect(await pool.call.runs()).toBe(1);
  });

  test("is printed with the pool's name when there is no onError", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const pool = await warm({ name: "quiet" });
    expect(await pool.call.strayAfter()).toBe("answered");
    await expect.poll(() => printed.mock.calls.length).toBe(1);
    const [text, error] = printed.mock.calls[0]!;
    expect(text).toContain('pool "quiet"');
    expect(String((error as Error).message)).toContain("stray");
    expect(await pool.call.runs()).toBe(1);
  });

  test("is not printed when there is an onError", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const told = gate();
    const pool = await warm({ onError: () => told.tell() });
    await pool.call.strayAfter();
    await told.promise;
    expect(printed).not.toHaveBeenCalled();
  });
});
