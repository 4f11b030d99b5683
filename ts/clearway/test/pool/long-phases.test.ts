// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: what a busy thread has posted depends on the carrier.
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Streams = typeof import("../fixtures/streams.tasks.js");

// Each task never ends by itself, and never yields its thread after it has handed over its values. The test gets them nevertheless.
describe("values of a task that then keeps its thread busy", () => {
  const streams = (): ReturnType<typeof testPool<Streams>> => testPool<Streams>(builtUrl("streams"), { graceMs: 1 });

  /** Collects three values, then ends the call. */
  function collect(): { values: unknown[]; add(value: unknown): void; signal: AbortSignal } {
    const abort = new AbortController();
    const values: unknown[] = [];
    const add = (value: unknown): void => {
      if (values.push(value) === 3) abort.abort();
    };
    return { values, add, signal: abort.signal };
  }

  test("arrive, by progress()", async () => {
    const { values, add, signal } = collect();
    await reasonOf(streams().with({ signal, onProgress: add }).call.progressThenBusy());
    expect(values).toEqual(["one", "two", "three"]);
  });

  test("arrive, by a callback", async () => {
    const { values, add, signal } = collect();
    const tell = callback(add, { concurrency: 3 });
    await reasonOf(streams().with({ signal }).call.callsThenBusy(tell));
    expect(values).toEqual(["one", "two", "three"]);
  });

  test.each(["yieldsThenBusy", "yieldsLaterThenBusy"] as const)("arrive, by a stream: %s", async (task) => {
    const values: unknown[] = [];
    for await (const value of streams().call[task]()) if (values.push(value) === 3) break;
    expect(values).toEqual(["one", "two", "three"]);
  });

  test("arrive, as results of earlier calls", async () => {
    const pool = streams();
    await pool.call.busyIfNegative(0);
    const results = [pool.call.busyIfNegative(1), pool.call.busyIfNegative(2), pool.call.busyIfNegative(-1)];
    expect(await Promise.all(results.slice(0, 2))).toEqual([1, 2]);
    results[2]?.catch(() => {});
  });
});
