// SPDX-License-Identifier: MIT OR Apache-2.0
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { builtUrl, gate, type Plain, plainUrl, testPool } from "../fixtures/pools.js";

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
    const worker = new Worker(builtUrl("prints"));
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
