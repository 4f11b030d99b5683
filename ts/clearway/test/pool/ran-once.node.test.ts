// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Chaos = typeof import("../fixtures/chaos.tasks.js");

test.each([1, 2])(
  "a call that threw just before another was killed rejects with its own error, having run once, with concurrency %i",
  async (concurrency) => {
    const pool = testPool<Chaos>(builtUrl("chaos"), { concurrency, graceMs: 20 });
    await pool.ready();
    const cells = new Int32Array(new SharedArrayBuffer(8));
    // In one message, the first of this worker: what takes errors apart is not loaded yet.
    const thrown = reasonOf(pool.call.throws({ cells, at: 0 }, 1));
    const killed = reasonOf(pool.with({ timeoutMs: 100 }).call.spin({ cells, at: 1 }));
    expect(await killed).toMatchObject({ code: "timeout" });
    expect(await thrown).not.toHaveProperty("code");
    expect([...cells]).toEqual([1, 1]);
  },
);
