// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: what a pool counts, as metrics read it.
import { move } from "clearway";
import { recordPool, stallMetrics } from "clearway/meter/metrics";
import { expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Errors = typeof import("../fixtures/errors.tasks.js");

test("a pool counts the errors of each task by code", async () => {
  const { call, with: withOptions, stats } = testPool<Errors>(builtUrl("errors"), { size: 1 });
  await expect(call.value(new RangeError("own"))).rejects.toThrow("own");
  await expect(call.value("text")).rejects.toBe("text");
  await expect(call.unsendable()).rejects.toMatchObject({ code: "not-cloneable" });
  await expect(withOptions({ signal: AbortSignal.abort() }).call.value(1)).rejects.toBeDefined();
  expect(stats().tasks["value"]).toMatchObject({ failed: 2, cancelled: 1, errors: { task: 2, cancelled: 1 } });
  expect(stats().tasks["unsendable"]!.errors).toEqual({ "not-cloneable": 1 });
});

test("a call that the pool refuses counts as failed, and one that its caller ends as cancelled", async () => {
  const pool = testPool<typeof import("../fixtures/crash.tasks.js")>(builtUrl("crash"), { queue: { items: 0 } });
  await pool.ready();
  const running = pool.with({ timeoutMs: 1 }).call.hold();
  await expect(pool.call.who()).rejects.toMatchObject({ code: "queue-full" });
  await expect(running).rejects.toMatchObject({ code: "timeout" });
  const { hold, who } = pool.stats().tasks;
  expect(who).toMatchObject({ failed: 1, cancelled: 0, errors: { "queue-full": 1 } });
  expect(hold).toMatchObject({ failed: 0, cancelled: 1, errors: { timeout: 1 } });
});

test("a call whose arguments are refused counts as failed", async () => {
  const pool = testPool<Errors>(builtUrl("errors"));
  await pool.ready();
  await expect(pool.with({ strict: true }).call.take(1, new Uint8Array(10))).rejects.toMatchObject({
    code: "would-copy",
  });
  const counts = { calls: 1, failed: 1, cancelled: 0, errors: { "would-copy": 1 } };
  expect(pool.stats()).toMatchObject({ open: 0, tasks: { take: counts } });
});

test("metrics for Prometheus have a pool's calls, bytes and times in buckets", async () => {
  const pool = testPool<Errors>(builtUrl("errors"), { size: 1, metrics: true });
  const metrics = stallMetrics();
  metrics.pool(pool, { pool: "errors" });
  await pool.call.take(1, move(new Uint8Array(1000)));
  await pool.call.take(1, 2);
  const { body } = metrics.exposition();
  expect(body).toContain('clearway_pool_calls_total{pool="errors",task="take",outcome="ok"} 2\n');
  expect(body).toMatch(/clearway_pool_memory_bytes_total\{pool="errors",direction="to_workers",how="moved"\} 1000\n/);
  expect(body).toContain(
    'clearway_pool_call_duration_seconds_bucket{pool="errors",task="take",phase="run",le="+Inf"} 2\n',
  );
});

test("a function as the option metrics receives the times of each call, and onError what it throws", async () => {
  const calls: unknown[] = [];
  const errors: unknown[] = [];
  const pool = testPool<Errors>(builtUrl("errors"), {
    size: 1,
    onError: (error) => errors.push(error),
    metrics(call) {
      calls.push(call);
      throw new Error("full");
    },
  });
  await pool.call.take(1, 2);
  const times = { queueUs: expect.any(Number), transitUs: expect.any(Number), runUs: expect.any(Number) };
  expect(calls).toEqual([{ task: "take", ...times, returnUs: expect.any(Number) }]);
  expect(errors).toEqual([new Error("full")]);
  expect(pool.stats().tasks["take"]!.ok).toBe(1);
});

test("metrics for OpenTelemetry have them, too", async () => {
  const recorded: unknown[] = [];
  const observable = () => ({ addCallback: () => {}, removeCallback: () => {} });
  const recorder = recordPool({
    createHistogram: () => ({ record: (_value, attributes) => void recorded.push(attributes) }),
    createCounter: () => ({ add: () => {} }),
    createObservableGauge: observable,
    createObservableCounter: observable,
  });
  const pool = testPool<Errors>(builtUrl("errors"), { size: 1, metrics: recorder.onCall });
  recorder.observe(pool);
  await pool.call.take(1, 2);
  expect(recorded).toEqual(["queue", "transit", "run", "return"].map((phase) => ({ task: "take", phase })));
  recorder.close();
});
