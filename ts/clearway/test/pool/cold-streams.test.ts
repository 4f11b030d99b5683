// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { type Plain, reasonOf, testPool } from "../fixtures/pools.js";

const nowhere = new URL("./no-such.tasks.js", import.meta.url);

test("a stream of a pool whose worker cannot start fails when it is read, and not before", async () => {
  const pool = testPool<Plain>(nowhere);
  const stream = pool.call.yieldsNested(1);
  // The test's runner reports an unhandled rejection.
  expect((await reasonOf(pool.ready())).code).toBe("worker-start-failed");
  await new Promise((resolve) => setTimeout(resolve));
  expect((await reasonOf(stream.next())).code).toBe("worker-start-failed");
});
