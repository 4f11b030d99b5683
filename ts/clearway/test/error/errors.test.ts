// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: errors cross by ring and by port.

import type { Pool } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, testPool, warmed } from "../fixtures/pools.js";

type Errors = typeof import("../fixtures/errors.tasks.js");

const make = () => testPool<Errors>(builtUrl("errors")).call;

async function thrownBy(act: () => PromiseLike<unknown>): Promise<unknown> {
  try {
    await act();
  } catch (reason) {
    return reason;
  }
  throw new Error("it did not throw");
}

describe("an error that a task throws arrives complete", () => {
  test("when it is of an app's own class, with code, properties and causes", async () => {
    const error = (await thrownBy(() => make().subclass())) as Error & Record<string, unknown>;
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({ name: "QuotaError", message: "too much", code: "E_QUOTA", detail: { left: 3 } });
    expect(error.cause).toBeInstanceOf(TypeError);
    expect((error.cause as Error).cause).toBe("words");
  });

  test("when it is not an Error", async () => {
    const call = make();
    for (const value of [null, 0, "text", false, { a: [1] }]) {
      expect(await thrownBy(() => call.value(value))).toEqual(value);
    }
    expect(await thrownBy(() => call.nothing())).toBeUndefined();
    expect(await thrownBy(() => call.fn())).toContain("not cloneable");
    expect(await thrownBy(() => call.symbol())).toContain("Symbol(s)");
    expect(await thrownBy(() => call.uncloneable())).toEqual({
      message: "out of stock",
      sku: 5,
      retry: "[not cloneable: function retry]",
    });
    expect(await thrownBy(() => call.uncloneableInstance())).toEqual({
      message: "by a getter",
      code: "[getter threw: no code]",
      left: 3,
      again: "[not cloneable: function again]",
    });
  });
});

async function awaited(): Promise<string> {
  await undefined;
  return new Error("frames").stack ?? "";
}

/** Whether this host shows the functions that await a function in its stack. Only V8 does. */
const showsAwaiting = await (async function awaiting() {
  return (await awaited()).includes("awaiting");
})();

describe("the stack of an error", () => {
  const thisFile = /errors\.test/;

  test.runIf(showsAwaiting)("has the worker's stack, then the caller's", async () => {
    const { stack } = (await thrownBy(() => make().subclass())) as Error;
    const [worker, caller] = stack!.split("--- called from ---");
    expect(worker).toContain("too much");
    expect(worker).toContain("errors.tasks");
    expect(caller).toMatch(thisFile);
  });

  test("has both parts for a stream, too", async () => {
    const stream = make().inStream();
    await stream.next();
    expect(((await thrownBy(() => stream.next())) as Error).stack).toMatch(thisFile);
  });

  test.runIf(showsAwaiting)("has the caller's part when the worker exited", async () => {
    const pool = await warmed(testPool<typeof import("../fixtures/crash.tasks.js")>(builtUrl("crash")));
    const error = (await thrownBy(() => pool.call.leave())) as Error;
    expect(error).toMatchObject({ code: "worker-exited" });
    expect(error.stack).toMatch(thisFile);
  });
});

describe("the stack of an error that the pool made for a call has the caller's lines, and no line of the library", () => {
  type Crash = typeof import("../fixtures/crash.tasks.js");
  const failures: [
    code: string,
    act: (pool: Pool<Crash>) => PromiseLike<unknown>,
    end?: (pool: Pool<Crash>) => Promise<void>,
  ][] = [
    ["unknown-task", (pool) => (pool.call as unknown as Record<string, () => Promise<unknown>>)["leav"]!()],
    ["timeout", (pool) => pool.with({ timeoutMs: 1 }).call.hold()],
    ["worker-exited", (pool) => pool.call.leave()],
    ["pool-closed", (pool) => pool.call.who(), (pool) => pool.ready().then(() => void pool.close())],
    ["pool-terminated", (pool) => pool.call.hold(), async (pool) => void setTimeout(() => pool.terminate())],
  ];

  async function business(act: (pool: Pool<Crash>) => PromiseLike<unknown>, pool: Pool<Crash>): Promise<unknown> {
    return await act(pool);
  }

  test.runIf(showsAwaiting).each(failures)("%s", async (code, act, end) => {
    for (const start of ["cold", "warm"]) {
      const pool = testPool<Crash>(builtUrl("crash"), { size: 1, graceMs: 1 });
      if (start === "warm") await pool.call.who();
      await end?.(pool);
      const error = (await thrownBy(() => business(act, pool))) as Error;
      expect(error, start).toMatchObject({ code });
      const lines = error.stack!.split("\n").filter((line) => /business.*errors\.test/.test(line));
      expect(lines, `${start}: ${error.stack}`).toHaveLength(1);
      expect(error.stack, start).not.toMatch(/admits|callFrame|lifecycle\//);
    }
  });
});

describe("the error for a value that cannot cross names the part of the value, and its stack has no line of the library", () => {
  const read = async (call: ReturnType<typeof make>) => {
    for await (const _ of call.unsendables());
  };

  test.each<[name: string, act: (call: ReturnType<typeof make>) => PromiseLike<unknown>, message: string]>([
    [
      "an argument",
      (call) => call.take(1, { b: [{ onClick: () => 1 }] }),
      "argument 2.b[0].onClick of take() cannot cross a thread: ",
    ],
    [
      "a function as an argument",
      (call) => call.take(1, (() => 1) as never),
      "argument 2 of take(), a function without callback() of clearway/callback, cannot cross a thread: ",
    ],
    ["a result", (call) => call.unsendable(), "the result of unsendable() at rows[0].format cannot cross a thread: "],
    ["a value of a stream", read, "the result of unsendables() at rows[0].format cannot cross a thread: "],
  ])("%s", async (_name, act, message) => {
    const call = make();
    for (const start of ["cold", "warm"]) {
      const error = (await thrownBy(async () => await act(call))) as Error;
      expect(error, start).toMatchObject({ code: "not-cloneable", message: expect.stringContaining(message) });
      expect(error.stack, start).not.toMatch(/notCloneable|refused/);
      expect(error.stack!.split("called from").length, start).toBeLessThanOrEqual(2);
      await call.value(1).catch(() => {});
    }
  });
});
