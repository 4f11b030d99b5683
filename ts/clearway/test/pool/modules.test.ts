// SPDX-License-Identifier: MIT OR Apache-2.0
import type { PoolOptions } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";

type All = typeof import("../fixtures/combined.tasks.js");

const withData = (setup: unknown): PoolOptions => ({ setup }) as PoolOptions;
const withUnit = (shapes: string, group: string): PoolOptions =>
  withData({ shapes: { unit: shapes }, group: { shapes: { unit: group } } });

const combined = (options: PoolOptions = {}) => testPool<All>(builtUrl("combined"), options);

describe("a pool of combined modules", () => {
  test("runs the tasks of every module, by the name of the module and of the task", async () => {
    const { call } = combined();
    expect(await call["own.ping"]()).toBe("pong");
    expect(await call["group.texts.upper"]("abc")).toBe("ABC");
    expect(await call["group.texts.area"]("abc")).toBe(3);
    const sides: number[] = [];
    for await (const side of call["group.shapes.sides"](3)) sides.push(side);
    expect(sides).toEqual([1, 2, 3]);
  });

  test("runs a first call, before any worker was ready, of the module that was exposed first", async () => {
    expect(await combined().call["shapes.pixels"](5)).toHaveLength(5);
    expect(await reasonOf((combined().call as unknown as { pixels(): Promise<unknown> }).pixels())).toMatchObject({
      code: "unknown-task",
      message: expect.stringContaining("it exposes shapes.area, shapes.count"),
    });
  });

  test("maps, broadcasts and counts by these names", async () => {
    const pool = combined({ size: 2 });
    await pool.ready();
    expect(await pool.map["group.texts.upper"](["a", "b"])).toEqual(["A", "B"]);
    expect((await pool.broadcast["own.ping"]()).length).toBeGreaterThan(0);
    expect(pool.stats().tasks["group.texts.upper"]).toMatchObject({ ok: 2 });
  });

  test("keeps the resources of the modules", async () => {
    const { call } = combined();
    expect([await call["shapes.count"](), await call["group.shapes.count"](), await call["shapes.count"]()]).toEqual([
      1, 2, 3,
    ]);
  });

  test("keeps the context and the options of the tasks", async () => {
    const pool = combined();
    const leaving = new AbortController();
    const spin = pool.with({ signal: leaving.signal }).call["group.texts.spin"]();
    leaving.abort(new Error("left"));
    expect(await reasonOf(spin)).toMatchObject({ message: "left" });
    // Not inline, because a module has a setup.
    expect(await pool.call["group.texts.near"]("a")).toBe("a");
    expect(pool.stats().tasks["group.texts.near"]).toMatchObject({ inline: 0 });
  });

  test("gives each setup the data of its module, in the order of the modules", async () => {
    const { call } = combined(withUnit("cm", "m"));
    expect(await call["shapes.area"](2, 3)).toBe("6 m");
  });

  test("runs each setup without data if the pool has none", async () => {
    expect(await combined().call["shapes.area"](2, 3)).toBe("6 without data");
  });

  test("fails with setup-failed if one setup throws, or if there is data for no setup", async () => {
    expect(await reasonOf(combined(withUnit("cm", "bad")).call["own.ping"]())).toMatchObject({
      code: "setup-failed",
      message: expect.stringContaining("a bad unit"),
    });
    const misnamed = withData({ shape: { unit: "cm" } });
    expect(await reasonOf(combined(misnamed).call["own.ping"]())).toMatchObject({
      code: "setup-failed",
      message: expect.stringContaining("setup.shape must be a known option (the nearest is shapes)"),
    });
    const text = withData("cm");
    expect(await reasonOf(combined(text).call["own.ping"]())).toMatchObject({
      code: "setup-failed",
      message: expect.stringContaining("setup must be an object"),
    });
  });

  test("works with workers of a factory", async () => {
    const make = await workerMaker();
    const pool = testPool<All>(() => make(builtUrl("combined")));
    expect(await pool.call["group.texts.upper"]("abc")).toBe("ABC");
  });
});

describe("a module that imports other task modules", () => {
  test("fails to start if it does not combine them, and the error names exposeAll()", async () => {
    const make = await workerMaker();
    for (const source of [builtUrl("apart"), () => make(builtUrl("apart"))]) {
      const pool = testPool<{ ping(): string }>(source);
      expect(await reasonOf(pool.call.ping())).toMatchObject({
        code: "worker-start-failed",
        message: expect.stringContaining("combine them with exposeAll()"),
      });
    }
  });

  test("cannot expose again once its worker has started", async () => {
    const { call } = testPool<typeof import("../fixtures/exposes-late.tasks.js")>(builtUrl("exposes-late"));
    expect(await reasonOf(call.late())).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("after its start"),
    });
    expect(await call.ping()).toBe("pong");
  });
});
