// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test } from "vitest";
import { globals } from "../../src/globals.js";
import { fakeClock } from "../fixtures/fake-timers.js";
import { builtUrl, testPool } from "../fixtures/pools.js";

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
