// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { foreignSignals, throwing } from "../fixtures/misdeeds.js";
import { plainPool } from "../fixtures/pools.js";

test.each(Object.keys(foreignSignals))("%s that throws settles its calls, and the pool goes on", async (name) => {
  const pool = plainPool();
  for (const act of Object.values(throwing)) {
    const { signal, abort } = foreignSignals[name]!(act);
    const { call } = pool.with({ signal });
    const calls = [call.add(1, 2), call.add(3, 4)];
    abort();
    await Promise.allSettled([...calls, call.add(5, 6)]);
  }
  expect(await pool.call.add(1, 2)).toBe(3);
});
