// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test, vi } from "vitest";
import { retireAll } from "../../src/pool/lifecycle/retire.js";
import { type PoolWorker, WorkerLife } from "../../src/pool/worker/worker.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";

test("close() waits for a worker's resources at most for its time limit", async () => {
  useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const life = new WorkerLife();
    life.ready();
    const worker = { life, calls: { size: 1 }, leaving: new Promise(() => {}) };
    const retired = retireAll([worker as unknown as PoolWorker], 1_000);
    vi.advanceTimersByTime(1_000);
    await retired;
    expect(life.state).toBe("draining");
  } finally {
    useRealTimers();
  }
});
