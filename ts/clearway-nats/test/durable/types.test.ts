// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expectTypeOf, test } from "vitest";
import type { DurableCallers, DurablePool } from "../../src/durable/pool.js";
import type { Work } from "./harness.js";

describe("the type of a durable pool", () => {
  test("has the module's plain functions and none of its streams", () => {
    expectTypeOf<DurableCallers<Work>["add"]>().returns.toEqualTypeOf<Promise<number>>();
    expectTypeOf<DurableCallers<Work>["held"]>().returns.toEqualTypeOf<Promise<string>>();
    expectTypeOf<"count" extends keyof DurableCallers<Work> ? true : false>().toEqualTypeOf<false>();
  });

  test("checks the task and the arguments of submit()", () => {
    const submit = (pool: DurablePool<Work>): unknown[] => [
      pool.submit("add", [1, 2]),
      // @ts-expect-error the task does not exist
      pool.submit("subtract", [1, 2]),
      // @ts-expect-error the argument is no number
      pool.submit("add", [1, "2"]),
      // @ts-expect-error a stream cannot be submitted
      pool.submit("count", [1]),
      // @ts-expect-error a submitted call has no signal
      pool.submit("add", [1, 2], { signal: AbortSignal.timeout(1) }),
    ];
    expectTypeOf(submit).returns.toEqualTypeOf<unknown[]>();
  });
});
