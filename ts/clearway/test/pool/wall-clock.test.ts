// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connect, memoryPair } from "../../src/channel.js";
import { globals } from "../../src/globals.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { plainPool, reasonOf } from "../fixtures/pools.js";

const dayMs = 86_400_000;

/** Sets the machine's clock, as this thread sees it. */
function setClock(byMs: number): void {
  const { wallMs } = globals;
  const read = Date.now;
  Date.now = () => read() + byMs;
  globals.wallMs = () => wallMs() + byMs;
  onTestFinished(() => {
    Date.now = read;
    globals.wallMs = wallMs;
  });
}

describe.each([
  ["back", -dayMs],
  ["forth", dayMs],
])("when the machine's clock is set %s by a day", (_, byMs) => {
  test("a call to a channel without a handler fails when its time is over, and not before", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(useRealTimers);
    const [left, right] = memoryPair();
    const [end] = await Promise.all([connect(left), connect(right)]);
    let failed = false;
    const call = reasonOf(end.methods("nobody").call("m")).finally(() => {
      failed = true;
    });
    await vi.advanceTimersByTimeAsync(200);
    setClock(byMs);
    // A second call makes the router look at the first one.
    end
      .methods("nobody")
      .call("m")
      .catch(() => {});
    await vi.advanceTimersByTimeAsync(4_000);
    expect(failed).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await call).code).toBe("no-handler");
  });

  test("a pool's time limits stay as they were", async () => {
    const pool = plainPool();
    await pool.ready();
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(useRealTimers);
    let failed = false;
    const call = reasonOf(pool.with({ deadlineMs: 1_000 }).call.never()).finally(() => {
      failed = true;
    });
    setClock(byMs);
    vi.advanceTimersByTime(999);
    await Promise.resolve();
    expect(failed).toBe(false);
    vi.advanceTimersByTime(1);
    expect((await call).code).toBe("deadline");
  });

  test("a stream gives all its values", async () => {
    const pool = plainPool();
    const values: unknown[] = [];
    for await (const value of pool.call.yieldsNested(1)) {
      if (values.length === 0) setClock(byMs);
      values.push(value);
    }
    expect(values).toHaveLength(2);
  });
});
