// SPDX-License-Identifier: MIT OR Apache-2.0
import { type Callable, type PoolOptions, pool, run } from "clearway";
import { describe, expect, test } from "vitest";
import { nestsWorkers } from "../fixtures/capabilities.js";
import { builtUrl, type Plain, plainUrl, reasonOf, testPool, workerMaker } from "../fixtures/pools.js";

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
    const { call } = combined();
    expect(await reasonOf(call["own.late"]())).toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("after its start"),
    });
    expect(await call["own.ping"]()).toBe("pong");
  });
});

// A function is not a task: it cannot cross to another thread.
const refusal = { code: "invalid-argument", message: expect.stringContaining("expose() it in a task module") };

describe.each<[string, (source: never) => unknown]>([
  ["pool()", (source) => pool(source)],
  ["run()", (source) => run(source)],
])("%s refuses", (_name, use) => {
  test.each<[string, unknown]>([
    ["an asynchronous function", async () => 1],
    ["a generator", function* () {}],
    ["an asynchronous generator", async function* () {}],
    ["nothing", undefined],
    ["a number", 5],
    ["an object", {}],
  ])("%s, and says what to do", (_what, source) => {
    expect(() => use(source as never)).toThrow(expect.objectContaining(refusal));
  });
});

test("run() with a function, awaited without a call, says what to do", async () => {
  let ran = 0;
  const closure = (): number => ++ran;
  expect(await reasonOf(run(closure as never) as never)).toMatchObject(refusal);
  expect(ran).toBe(0);
});

test("run() with a factory makes calls as before, and can be kept", async () => {
  const newWorker = await workerMaker();
  const once = run<Plain>(() => newWorker(plainUrl));
  expect(await once.call.add(1, 2)).toBe(3);
  const kept = (async () => ({ once: run<Plain>(() => newWorker(plainUrl)) }))();
  expect(await (await kept).once.call.add(3, 4)).toBe(7);
  const byUrl: Callable<Plain> = await (async () => run<Plain>(plainUrl))();
  expect(await byUrl.call.add(5, 6)).toBe(11);
});

test("a pool whose function returns no worker fails its calls with an error that says what to do", async () => {
  const made = testPool<Plain>((() => 42) as never);
  expect(await reasonOf(made.call.add(1, 2))).toMatchObject({
    code: "worker-start-failed",
    message: expect.stringContaining("expose() it in a task module"),
  });
});

type Nested = typeof import("../fixtures/nested.tasks.js");

test.runIf(nestsWorkers)("a worker may have its own pool, and errors pass through both", async () => {
  const pool = testPool<Nested>(builtUrl("nested"));
  expect(await pool.call.sumOf([1, 2, 3])).toBe(12);
  expect(await reasonOf(pool.call.errorOf("deep"))).toMatchObject({ name: "RangeError", message: "deep" });
});
