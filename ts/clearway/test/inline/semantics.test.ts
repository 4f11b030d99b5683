// SPDX-License-Identifier: MIT OR Apache-2.0
import { move } from "clearway";
import { describe, expect, test } from "vitest";
import { reasonOf } from "../fixtures/pools.js";
import { placedPool } from "./placing.js";

// One contract for both places: a caller cannot distinguish them, except by their duration.
describe.each([
  ["inline", "caller"],
  ["worker", "worker"],
] as const)("placed %s, a call", (placement, thread) => {
  const open = () => placedPool(placement);

  test("runs in that place", async () => {
    const pool = await open();
    expect(await pool.call.where()).toBe(thread);
    expect(await pool.call.whereAsync()).toBe(thread);
    expect(pool.stats().tasks["where"]).toMatchObject({ calls: 1, ok: 1, inline: thread === "caller" ? 1 : 0 });
  });

  test("rejects when a getter of an argument throws, and does not throw at its caller", async () => {
    const pool = await open();
    const value = {
      get inner() {
        throw new RangeError("not today");
      },
    };
    expect(await reasonOf(pool.call.echo(value))).toMatchObject({ message: expect.stringContaining("not today") });
    expect(await reasonOf(pool.call.echo([value]))).toMatchObject({ message: expect.stringContaining("not today") });
    expect(await pool.call.echo(1)).toEqual([1]);
  });

  test("receives a copy of its arguments, and its caller a copy of the result", async () => {
    const pool = await open();
    const rows = [{ id: 1, tags: ["a"] }];
    const given = (await pool.call.keep(rows)) as typeof rows;
    rows[0]!.tags.push("changed by the caller");
    given[0]!.tags.push("changed in the result");
    expect(await pool.call.kept()).toEqual([{ id: 1, tags: ["a"] }]);
  });

  test("keeps the structure of values: cycles, holes, dates, maps, shared objects", async () => {
    const pool = await open();
    const cyclic: Record<string, unknown> = { name: "self" };
    cyclic["self"] = cyclic;
    // biome-ignore lint/suspicious/noSparseArray: the test needs a hole
    const holed = [1, , 3];
    const twice = { n: 1 };
    const values = [cyclic, holed, new Date(0), new Map([[1, new Set(["x"])]]), [twice, twice], 5n, undefined];
    const back = (await pool.call.echo(...values)) as unknown[];
    expect(back).toEqual(structuredClone(values));
    expect(1 in (back[1] as unknown[])).toBe(false);
    const pair = back[4] as unknown[];
    expect(pair[0]).toBe(pair[1]);
  });

  test("takes moved arguments away from their owner", async () => {
    const pool = await open();
    const bytes = new Uint8Array(64);
    expect(await pool.call.lengthOf(move(bytes))).toEqual([thread, 64]);
    expect(bytes.byteLength).toBe(0);
    expect(pool.stats().ledger.toWorkers.movedBytes).toBe(64);
  });

  test("leaves unmoved memory to its owner, and the ledger counts a copy", async () => {
    const pool = await open();
    const bytes = new Uint8Array(64);
    expect(await pool.call.lengthOf(bytes)).toEqual([thread, 64]);
    expect(bytes.byteLength).toBe(64);
    expect(pool.stats().ledger.toWorkers.copies["argument-not-moved"]).toEqual({ count: 1, bytes: 64 });
  });

  test("is refused under strict when memory would be copied", async () => {
    const pool = await open();
    expect((await reasonOf(pool.with({ strict: true, placement }).call.sum(new Uint8Array(8)))).code).toBe(
      "would-copy",
    );
  });

  test("moves its result's memory", async () => {
    const pool = await open();
    const bytes = await pool.call.memory();
    expect(bytes.byteLength).toBe(1000);
    expect(await pool.call.memoryLength()).toBe(0);
    expect(pool.stats().ledger.fromWorkers.movedBytes).toBe(1000);
  });

  test("is refused for a result whose memory moved with an earlier one, with the task's name and a remedy", async () => {
    const pool = await open();
    expect(await pool.call.sheet()).toHaveLength(1000);
    for (const again of [pool.call.sheet(), pool.call.sheetLater()]) {
      expect(await reasonOf(again)).toMatchObject({
        code: "not-cloneable",
        message: expect.stringMatching(
          /^the result of sheet\w*\(\) .*moved away with an earlier result.*move\(value, \[\]\)$/,
        ),
      });
    }
    expect((await reasonOf(pool.call.returnsFunction())).message).toMatch(/^the result of returnsFunction\(\) /);
  });

  test("fails with the same error: class, name, message, code and cause", async () => {
    const pool = await open();
    for (const failing of [pool.call.fail("empty"), pool.call.failLater("empty")]) {
      const reason = (await reasonOf(failing)) as Error;
      expect(reason).toBeInstanceOf(RangeError);
      expect(reason.constructor).toBe(RangeError);
      expect(reason).toMatchObject({ name: "OutOfPaper", message: "empty", code: "EPAPER" });
      expect(reason.stack).toContain("placed.tasks");
    }
    const { cause } = (await reasonOf(pool.call.fail("empty"))) as Error;
    expect(cause).toBeInstanceOf(TypeError);
    expect(pool.stats().tasks["fail"]).toMatchObject({ calls: 2, ok: 0, failed: 2 });
  });

  test("fails with a copy of what was thrown", async () => {
    const pool = await open();
    const thrown = (await reasonOf(pool.call.throwList([1]))) as unknown as number[];
    thrown.push(2);
    expect(await pool.call.kept()).toEqual([1]);
  });

  test("is refused when a value cannot cross", async () => {
    const pool = await open();
    expect((await reasonOf(pool.call.echo(() => 1))).code).toBe("not-cloneable");
    expect((await reasonOf(pool.call.echo(Symbol("x")))).code).toBe("not-cloneable");
    expect((await reasonOf(pool.call.returnsFunction())).code).toBe("not-cloneable");
    expect((await reasonOf(pool.call.returnsGenerator() as unknown as Promise<unknown>)).code).toBe("not-cloneable");
  });

  test("has a context", async () => {
    const pool = await open();
    expect(await pool.call.context()).toEqual([thread, false, false]);
  });

  test("finishes before close() settles", async () => {
    const pool = await open();
    const later = pool.call.whereAsync();
    await pool.close();
    expect(await later).toBe(thread);
  });

  test("is rejected by terminate(), even when it never ends", async () => {
    const pool = await open();
    const never = reasonOf(pool.call.never());
    expect(pool.stats().open).toBe(1);
    await pool.terminate();
    expect((await never).code).toBe("pool-terminated");
    expect(pool.stats().open).toBe(0);
    expect((await reasonOf(pool.call.add(1, 2))).code).toBe("pool-terminated");
  });
});
