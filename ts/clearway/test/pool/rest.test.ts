// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test, vi } from "vitest";
import { retireAll } from "../../src/pool/lifecycle/rest.js";
import { WorkerLife } from "../../src/pool/worker-life.js";
import type { WorkerSet } from "../../src/pool/worker-set.js";

test("closing waits for a worker's resources up to its limit, and no longer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const life = new WorkerLife();
    life.ready();
    const worker = { life, calls: { size: 1 }, leaving: new Promise(() => {}) };
    const retired = retireAll([worker] as unknown as WorkerSet, 1_000);
    vi.advanceTimersByTime(1_000);
    await retired;
    expect(life.state).toBe("draining");
  } finally {
    vi.useRealTimers();
  }
});
