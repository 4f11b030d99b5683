// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { globals } from "../../src/globals.js";
import { settingsOf } from "../../src/pool/options.js";
import { fakeClock, useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { builtUrl, gate, plainPool, reasonOf, testPool, warmed } from "../fixtures/pools.js";

type Crash = typeof import("../fixtures/crash.tasks.js");

describe("the size of a pool", () => {
  test("starts all workers at once when it is fixed", async () => {
    const pool = plainPool({ size: 3 });
    expect(pool.stats().workers.size).toBe(3);
    await expect.poll(() => pool.stats().workers.ready).toBe(3);
  });

  test("grows under load to its maximum, and shrinks to its minimum after idling", async () => {
    // The cancelled tasks stop by themselves, after a time that depends on the machine.
    const pool = await warmed(plainPool({ size: { min: 1, max: 3, idleMs: 1 }, graceMs: 600_000 }));
    expect(pool.stats().workers.size).toBe(1);
    const controller = new AbortController();
    const holding = Array.from({ length: 6 }, () => reasonOf(pool.with({ signal: controller.signal }).call.hold()));
    await expect.poll(() => pool.stats().workers).toMatchObject({ size: 3, busy: 3 });
    controller.abort();
    await Promise.all(holding);
    await expect.poll(() => pool.stats().workers.size).toBe(1);
    expect(pool.stats().workers.restarts).toBe(0);
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("shrinks to its minimum and no further, when several workers have idled equally long", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const pool = testPool<Crash>(builtUrl("crash"), { size: { min: 1, max: 3, idleMs: 300 }, graceMs: 600_000 });
    await pool.ready();
    const begun = [gate(), gate(), gate()];
    const controller = new AbortController();
    const holding = begun.map(({ tell }) =>
      reasonOf(pool.with({ signal: controller.signal, onProgress: () => tell() }).call.hold()),
    );
    await Promise.all(begun.map(({ promise }) => promise));
    controller.abort();
    await Promise.all(holding);
    while (pool.stats().workers.busy > 0) await pool.ping();
    vi.advanceTimersByTime(1_000);
    expect(pool.stats().workers.ready).toBe(1);
    useRealTimers();
  });

  test("has a maximum of at least its minimum, on any machine", () => {
    expect(settingsOf({ size: { min: 700 } })).toMatchObject({ min: 700, max: 700 });
    expect(settingsOf({ size: { min: 700, max: "cpu" } })).toMatchObject({ min: 700, max: 700 });
  });

  test("may be 0 while there are no calls", async () => {
    const pool = plainPool({ size: { min: 0, max: 2, idleMs: 1 } });
    expect(pool.stats().workers.size).toBe(0);
    expect(await pool.call.add(1, 2)).toBe(3);
    await expect.poll(() => pool.stats().workers.size).toBe(0);
    expect(await pool.call.add(2, 2)).toBe(4);
  });

  test("does not grow for sequential calls", async () => {
    const pool = plainPool({ size: { min: 1, max: 4 } });
    for (let at = 0; at < 50; at++) await pool.call.add(at, at);
    expect(pool.stats().workers.size).toBe(1);
  });
});

test("a short call that waits for a call that never ends gets a worker of its own", async () => {
  const pool = plainPool({ size: { min: 1, max: 2 } });
  // Then the pool knows that the task is short.
  for (let at = 0; at < 20; at++) await pool.call.add(at);
  const controller = new AbortController();
  const never = reasonOf(pool.with({ signal: controller.signal }).call.never());
  expect(await pool.call.add(1, 2)).toBe(3);
  expect(pool.stats().workers.size).toBe(2);
  controller.abort();
  await never;
});

describe("recycling", () => {
  test("replaces a worker after the given number of tasks, between calls", async () => {
    const pool = testPool<typeof import("../fixtures/crash.tasks.js")>(builtUrl("crash"), { recycle: { tasks: 3 } });
    const runs: number[] = [];
    for (let at = 0; at < 9; at++) runs.push(await pool.call.runs());
    expect(Math.max(...runs)).toBeLessThanOrEqual(3);
    expect(pool.stats().workers.restarts).toBe(0);
    expect(pool.stats().tasks["runs"]).toMatchObject({ calls: 9, ok: 9, failed: 0 });
  });
});

describe("concurrency", () => {
  test("runs at most the given number of tasks at once in one worker", async () => {
    const pool = await warmed(plainPool({ concurrency: 3 }));
    let started = 0;
    const all = gate();
    const controller = new AbortController();
    const options = {
      signal: controller.signal,
      onProgress: () => {
        if (++started === 3) all.tell();
      },
    };
    const holding = Array.from({ length: 5 }, () => reasonOf(pool.with(options).call.hold()));
    await all.promise;
    await pool.ping();
    expect(started).toBe(3);
    expect(pool.stats().queue.items).toBe(2);
    controller.abort();
    await Promise.all(holding);
  });
});

describe("statistics", () => {
  test("count the outcomes of calls per task", async () => {
    const pool = plainPool();
    await pool.call.add(1, 2);
    await reasonOf(pool.call.fail("x"));
    await reasonOf(pool.with({ signal: AbortSignal.abort() }).call.add(1, 1));
    for await (const each of pool.call.numbers(100)) if (each === 2) break;
    await reasonOf(pool.call.echo(() => {}));
    const { tasks, open } = pool.stats();
    expect(open).toBe(0);
    expect(tasks["add"]).toEqual({ calls: 2, ok: 1, failed: 0, cancelled: 1, inline: 0, errors: { cancelled: 1 } });
    expect(tasks["fail"]).toEqual({ calls: 1, ok: 0, failed: 1, cancelled: 0, inline: 0, errors: { task: 1 } });
    expect(tasks["echo"]).toMatchObject({ calls: 1, failed: 1, errors: { "not-cloneable": 1 } });
    expect(tasks["numbers"]).toEqual({ calls: 1, ok: 0, failed: 0, cancelled: 1, inline: 0, errors: {} });
  });

  test("with metrics contain queue, transit, run and return time of each call, in microseconds", async () => {
    const pool = await warmed(plainPool({ metrics: true }));
    for (let at = 0; at < 20; at++) await pool.call.spin(1);
    const { spin } = pool.stats().tasks;
    for (const part of ["queueUs", "transitUs", "runUs", "returnUs"] as const) {
      expect(spin![part]).toMatchObject({ count: 20 });
      expect(spin![part]!.min).toBeGreaterThanOrEqual(0);
      expect(spin![part]!.p50).toBeLessThanOrEqual(spin![part]!.max);
    }
    // The task runs for a millisecond by its own clock.
    expect(spin!.runUs!.min).toBeGreaterThanOrEqual(900);
    expect(pool.stats().workers.utilisation[0]).toBeGreaterThan(0);
  });

  test("without metrics contain no histograms", async () => {
    const pool = plainPool();
    await pool.call.add(1, 2);
    expect(pool.stats().tasks["add"]).not.toHaveProperty("runUs");
  });

  test("are a snapshot", async () => {
    const pool = plainPool();
    await pool.call.echo(new Uint8Array(8));
    const before = pool.stats();
    const copy = structuredClone(before);
    await pool.call.echo(new Uint8Array(8));
    expect(before).toEqual(copy);
  });
});

type Worn = typeof import("../fixtures/worn.tasks.js");

const hour = 3_600_000;

/** Advances this thread's clock by `ms`. */
function advance(ms: number): void {
  const { clock } = globals;
  onTestFinished(fakeClock(() => clock() + ms));
}

describe("recycling", () => {
  test("replaces a worker that has reached ageMs, between calls", async () => {
    const pool = testPool<Worn>(builtUrl("worn"), { recycle: { ageMs: hour } });
    const young = await pool.call.who();
    expect(await pool.call.who()).toBe(young);
    advance(hour);
    // The age is checked when a call ends, so no call waits for the new worker.
    expect(await pool.call.who()).toBe(young);
    expect(await pool.call.who()).not.toBe(young);
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("keeps a younger worker", async () => {
    const pool = testPool<Worn>(builtUrl("worn"), { recycle: { ageMs: hour } });
    const young = await pool.call.who();
    advance(hour / 2);
    for (let turn = 0; turn < 3; turn++) expect(await pool.call.who()).toBe(young);
  });
});
