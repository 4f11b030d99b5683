// SPDX-License-Identifier: MIT OR Apache-2.0
// What users of workerpool rely on, and no other suite checks. docs/differences.md lists what differs.
import { expect, test } from "vitest";
import { builtUrl, plainPool, reasonOf, testPool } from "../fixtures/pools.js";

test("a call of a name that every object has fails with unknown-task", async () => {
  const call = plainPool().call as unknown as Record<string, () => Promise<unknown>>;
  for (const name of ["constructor", "hasOwnProperty", "__proto__", "isPrototypeOf"])
    expect(await reasonOf(call[name]!()), name).toMatchObject({ code: "unknown-task" });
});

test("progress reaches only the listener of its call, before the call's error", async () => {
  const pool = testPool<typeof import("../fixtures/peers.tasks.js")>(builtUrl("peers"));
  const seen: unknown[][] = [[], []];
  const listening = (at: number) => pool.with({ onProgress: (value) => void seen[at]?.push(value) }).call;
  const failing = listening(1)
    .emitThenFail("b")
    .catch((error: Error) => seen[1]?.push(error.message));
  await Promise.all([listening(0).emit("a"), failing, pool.call.emit("nobody listens")]);
  expect(seen).toEqual([["a"], ["b", "after"]]);
});
