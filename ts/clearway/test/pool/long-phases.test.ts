// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: what a busy thread has posted depends on the carrier.
import { callback } from "clearway/callback";
import { describe, expect, test } from "vitest";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Phases = typeof import("../fixtures/phases.tasks.js");

// Each task never ends by itself, and never yields its thread after it has handed over its values. The test gets them nevertheless.
describe("values of a task that then keeps its thread busy", () => {
  const phases = (): ReturnType<typeof testPool<Phases>> => testPool<Phases>(builtUrl("phases"), { graceMs: 1 });

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
    await phases()
      .with({ signal, onProgress: add })
      .call.progress()
      .catch(() => {});
    expect(values).toEqual(["one", "two", "three"]);
  });

  test("arrive, by a callback", async () => {
    const { values, add, signal } = collect();
    await phases()
      .with({ signal })
      .call.report(callback(add, { concurrency: 3 }))
      .catch(() => {});
    expect(values).toEqual(["one", "two", "three"]);
  });

  test.each(["yieldValues", "yieldLater"] as const)("arrive, by a stream: %s", async (task) => {
    const values: unknown[] = [];
    for await (const value of phases().call[task]()) if (values.push(value) === 3) break;
    expect(values).toEqual(["one", "two", "three"]);
  });

  test("arrive, as results of earlier calls", async () => {
    const pool = phases();
    await pool.call.quick(0);
    const results = [pool.call.quick(1), pool.call.quick(2), pool.call.quick(-1)];
    expect(await Promise.all(results.slice(0, 2))).toEqual([1, 2]);
    results[2]?.catch(() => {});
  });
});
