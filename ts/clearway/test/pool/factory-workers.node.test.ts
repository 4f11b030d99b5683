// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { gate, type Plain, plainUrl, reasonOf, testPool } from "../fixtures/pools.js";

test("a pool that is terminated many times adds one listener for its worker's exit and prints no warning", async () => {
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  let worker: Worker | undefined;
  const pool = testPool<Plain>(() => {
    worker = new Worker(plainUrl);
    return worker;
  });
  await pool.ready();
  const before = worker!.listenerCount("exit");
  const ends = Array.from({ length: 30 }, () => pool.terminate());
  expect(worker!.listenerCount("exit")).toBe(before + 1);
  await Promise.all(ends);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test("a pool ends a factory's worker even when the worker's own terminate() does nothing", async () => {
  let ended = 0;
  const pool = testPool<Plain>(() => {
    const worker = new Worker(plainUrl);
    worker.once("exit", () => ended++);
    return Object.assign(worker, { terminate: () => new Promise<number>(() => {}) });
  });
  await pool.ready();
  await pool.terminate();
  expect(ended).toBe(1);
});

test("an idle worker whose postMessage throws, and that has printed, does not keep the process alive", async () => {
  const refused: unknown[] = [];
  const printed = gate();
  const freed = gate();
  const pool = testPool<{ print(lines: number): void }>(() => {
    const worker = new Worker(plainUrl);
    const { postMessage, unref } = Worker.prototype;
    worker.stdout.once("data", () => printed.tell());
    return Object.assign(worker, {
      postMessage: (message: unknown, transfer: never[]) => {
        if (Array.isArray(message)) return postMessage.call(worker, message, transfer);
        refused.push(message);
        throw new RangeError("not today");
      },
      unref: () => {
        unref.call(worker);
        if (refused.length > 0) freed.tell();
      },
    });
  });
  await pool.call.print(1);
  await printed.promise;
  // The worker becomes idle again after its output has arrived.
  await pool.call.print(1);
  await freed.promise;
  expect(refused[0]).toBe("clearway:flush");
});

async function dead(): Promise<Worker> {
  const worker = new Worker("", { eval: true });
  await once(worker, "exit");
  return worker;
}

describe("a factory that returns a worker that has exited", () => {
  test("fails the waiting calls, and ready()", async () => {
    const worker = await dead();
    const pool = testPool<Plain>(() => worker);
    const reasons = await Promise.all([reasonOf(pool.ready()), reasonOf(pool.call.add(1, 2))]);
    for (const reason of reasons) expect(reason).toMatchObject({ code: "worker-start-failed" });
    await pool.close();
  });

  test("does not block terminate()", async () => {
    const worker = await dead();
    const pool = testPool<Plain>(() => worker);
    const lost = reasonOf(pool.call.add(1, 2));
    await pool.terminate();
    expect(["pool-terminated", "worker-start-failed"]).toContain((await lost).code);
  });

  test("is called again for the next call", async () => {
    const workers = [await dead()];
    const pool = testPool<Plain>(() => workers.shift() ?? new Worker(plainUrl));
    expect(await reasonOf(pool.call.add(1, 2))).toMatchObject({ code: "worker-start-failed" });
    expect(await pool.call.add(1, 2)).toBe(3);
  });
});

test("a string that begins with a Windows drive letter is a path, in either case", async () => {
  for (const drive of ["c", "C"]) {
    const pool = testPool<Plain>(`${drive}:\\tasks\\images.tasks.js`);
    // This path does not exist. A URL of that scheme would be refused for its scheme.
    expect((await reasonOf(pool.call.add(1, 2))).message).toMatch(/absolute path/);
  }
});
