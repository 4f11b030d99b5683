// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test, vi } from "vitest";
import { SlotLife } from "../../src/pool/slot-life.js";
import { retireAll } from "../../src/pool/upkeep/rest.js";
import type { Workforce } from "../../src/pool/workforce.js";

test("closing waits for a worker's resources as long as it may, and no longer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const life = new SlotLife();
    life.ready();
    const slot = { life, calls: { size: 1 }, leaving: new Promise(() => {}) };
    const retired = retireAll([slot] as unknown as Workforce, 1_000);
    vi.advanceTimersByTime(1_000);
    await retired;
    expect(life.state).toBe("draining");
  } finally {
    vi.useRealTimers();
  }
});
