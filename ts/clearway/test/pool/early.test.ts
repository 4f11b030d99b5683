// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, plainPool, reasonOf, testPool } from "../fixtures/pools.js";

// Every test calls its own pool in the tick that created it: the call is sent before its worker is ready.

test.each([
  ["number", 1],
  ["text", "one"],
  ["null", null],
  ["undefined", undefined],
  ["object", { at: [1, { two: 2 }] }],
])("a first call returns its result: %s", async (_name, value) => {
  expect(await plainPool().call.echo(value)).toEqual(value);
});

test("a first call moves its result, and the ledger counts it", async () => {
  const pool = plainPool();
  expect(await pool.call.bytes(1000)).toHaveLength(1000);
  expect(pool.stats().ledger.fromWorkers).toMatchObject({ movedBytes: 1000, copiedBytes: 0 });
});

test("a first call may be asynchronous, and may fail with its complete error", async () => {
  expect(await plainPool().call.later(1)).toBe(2);
  const pool = plainPool();
  expect(await reasonOf(pool.call.fail("no"))).toMatchObject({ name: "RangeError", message: "no" });
  expect(pool.stats().tasks["fail"]).toMatchObject({ calls: 1, ok: 0, failed: 1 });
});

test("a first call fails when its argument or result cannot be cloned", async () => {
  expect(await reasonOf(plainPool().call.returnsFunction())).toMatchObject({ code: "not-cloneable" });
  expect(await reasonOf(plainPool().call.returnsGenerator() as unknown as Promise<unknown>)).toMatchObject({
    code: "not-cloneable",
  });
  expect(await reasonOf(plainPool().call.echo(() => 1))).toMatchObject({ code: "not-cloneable" });
});

test("a first call of a generator is a stream, and its task runs once", async () => {
  const pool = plainPool();
  const seen: number[] = [];
  for await (const each of pool.call.numbers(3)) seen.push(each);
  expect(seen).toEqual([0, 1, 2]);
  expect(pool.stats().tasks["numbers"]).toMatchObject({ calls: 1, ok: 1 });
});

test("a first call is cancelled when its reader ends it as a stream, and the pool keeps working", async () => {
  const pool = plainPool();
  const call = pool.call.never() as unknown as AsyncIterator<unknown>;
  await call.return?.();
  expect(await reasonOf(call as unknown as Promise<unknown>)).toMatchObject({ code: "cancelled" });
  await pool.ready();
  await pool.terminate();
  expect(pool.stats().open).toBe(0);
});

test("a first call with an argument that cannot be cloned is cancelled when its reader ends it, and the pool keeps working", async () => {
  const pool = plainPool();
  const call = pool.call.echo(() => 1) as unknown as AsyncIterator<unknown>;
  const ended = call.return?.("left");
  expect(await reasonOf(call as unknown as Promise<unknown>)).toMatchObject({ code: "cancelled" });
  expect(await ended).toEqual({ done: true, value: "left" });
  expect(await pool.call.echo(2)).toBe(2);
  expect(pool.stats()).toMatchObject({ open: 0, tasks: { echo: { calls: 2, ok: 1, failed: 0, cancelled: 1 } } });
});

test("many first calls are distributed over the starting workers, and each runs once", async () => {
  const pool = plainPool({ size: 2 });
  const counts = await Promise.all(Array.from({ length: 20 }, () => pool.call.count()));
  expect(counts.reduce((sum, each) => Math.max(sum, each), 0)).toBeGreaterThanOrEqual(10);
  expect(pool.stats().tasks["count"]).toMatchObject({ calls: 20, ok: 20 });
});

test("a pool below its maximum size starts a worker for a second call, even while another is starting", async () => {
  const pool = plainPool({ size: { min: 1, max: 2 } });
  await Promise.all([pool.call.spin(1), pool.call.spin(1)]);
  expect(pool.stats().workers.size).toBe(2);
});

test("a first call has a measured duration when metrics are on", async () => {
  const pool = plainPool({ metrics: true });
  await pool.ready();
  const cold = plainPool({ metrics: true });
  await cold.call.add(1, 2);
  expect(cold.stats().tasks["add"]?.runUs).toMatchObject({ count: 1 });
});

test("a first call of an unknown task fails with the names that the module exposes", async () => {
  const pool = testPool<{ none(): void }>(builtUrl("plain"));
  expect(await reasonOf(pool.call.none())).toMatchObject({
    code: "unknown-task",
    message: expect.stringMatching(/^the module exposes no task "none"; it exposes add, echo, later, .*, print$/),
  });
});
