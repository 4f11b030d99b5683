// SPDX-License-Identifier: MIT OR Apache-2.0
// What users of Piscina rely on, and no other suite checks. docs/differences.md lists what differs.
import { move, type PoolOptions } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { builtUrl, gates, held, plainPool, reasonOf, testPool, warmed } from "../fixtures/pools.js";
import { taskFolder } from "../fixtures/task-folder.js";

/** Creates a pool whose calls end when the test says so. Its first worker is ready. */
async function gatedPool(options: PoolOptions = {}) {
  const pool = await warmed(plainPool(options));
  const { channel, ...rest } = gates();
  const pass = (name: string, signal?: AbortSignal) => pool.with({ signal }).call.pass(name, channel);
  return { pool, ...rest, pass };
}

describe("a pool", () => {
  test.each([
    [
      "of CommonJS",
      "times.tasks.cjs",
      "exports.default = require('clearway/worker').expose({ times: (value) => value * 3 });",
    ],
    [
      "that awaits at its top level",
      "times.tasks.mjs",
      `import { expose } from "clearway/worker";
      const factor = await new Promise((resolve) => setImmediate(resolve, 3));
      export default expose({ times: (value) => value * factor });`,
    ],
  ])("takes a module %s", async (_, name, text) => {
    const { url } = taskFolder({ [name]: text });
    const { call } = testPool<{ times(value: number): number }>(url(name));
    expect(await call.times(4)).toBe(12);
  });

  test("starts no worker for a call whose signal has aborted before", async () => {
    const pool = plainPool({ size: { min: 0, max: 1 } });
    await reasonOf(pool.with({ signal: AbortSignal.abort() }).call.add(1));
    expect(pool.stats().workers.size).toBe(0);
  });

  test("keeps its workers if they may idle for ever", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const pool = plainPool({ size: { min: 0, max: 1, idleMs: Number.POSITIVE_INFINITY } });
    await pool.call.later(1);
    vi.advanceTimersByTime(2 ** 31);
    expect(pool.stats().workers.ready).toBe(1);
  });

  test("prints no warning when close() reaches its time limit", async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on("warning", listen);
    onTestFinished(() => void process.off("warning", listen));
    const pool = plainPool();
    const open = reasonOf(pool.call.never());
    await pool.close({ timeoutMs: 1 });
    expect(await open).toMatchObject({ code: "pool-closed" });
    // Node emits a warning in a later turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
  });

  test("has statistics that are plain data", async () => {
    const pool = plainPool({ metrics: true });
    await pool.call.add(1, 2);
    expect(JSON.parse(JSON.stringify(pool.stats()))).toMatchObject({ tasks: { add: { ok: 1 } } });
  });
});

describe("a worker", () => {
  const text = `import { expose } from "clearway/worker";
    export default expose({ facts: () => ({ env: { ...process.env }, execArgv: process.execArgv }) });`;
  const facts = (options: PoolOptions) => {
    const { url } = taskFolder({ "facts.tasks.mjs": text });
    return testPool<{ facts(): Record<"env" | "execArgv", unknown> }>(url("facts.tasks.mjs"), options).call.facts();
  };

  test("has the environment of its pool instead of the process's", async () => {
    expect((await facts({ env: { COLOR: "red" } })).env).toEqual({ COLOR: "red" });
  });

  test("has an empty command line if its pool asks for that", async () => {
    expect((await facts({ execArgv: [] })).execArgv).toEqual([]);
  });

  test("that exits fails its call with its exit code", async () => {
    const pool = testPool<typeof import("../fixtures/crash.tasks.js")>(builtUrl("crash"));
    expect(await reasonOf(pool.call.leave(7))).toMatchObject({
      code: "worker-exited",
      message: expect.stringContaining("exit code 7"),
    });
  });
});

test.each([1, "text", null, undefined, true])("move() leaves a primitive unchanged: %j", async (value) => {
  expect(await plainPool().call.echo(move(value as never))).toBe(value);
});

describe("a signal", () => {
  test("may have any value as its reason", async () => {
    const pool = plainPool();
    for (const reason of ["a text", 0, null, { code: 1 }]) {
      const { release } = await held(pool);
      expect(await release(reason)).toBe(reason);
    }
  });

  test("may be made by AbortSignal.timeout() or AbortSignal.any()", async () => {
    const pool = plainPool();
    const timeout = pool.with({ signal: AbortSignal.timeout(1) }).call.never();
    expect(await reasonOf(timeout)).toMatchObject({ name: "TimeoutError" });
    const controller = new AbortController();
    const signal = AbortSignal.any([controller.signal, new AbortController().signal]);
    const call = pool.with({ signal }).call.never();
    controller.abort(new Error("one of them"));
    expect(await reasonOf(call)).toMatchObject({ message: "one of them" });
  });

  test("ends its call alone, when the worker runs another one, too", async () => {
    const { pool, pass, begun, open } = await gatedPool({ concurrency: 2 });
    const controller = new AbortController();
    const [plain, other] = [pass("plain"), pass("cancelled", controller.signal)];
    await begun("plain", "cancelled");
    controller.abort();
    expect(await reasonOf(other)).toMatchObject({ name: "AbortError" });
    await open("plain");
    expect(await plain).toBe("plain");
    expect(pool.stats().workers.restarts).toBe(0);
  });

  test("changes nothing in the order of calls", async () => {
    const { pass, begun, open } = await gatedPool();
    const { signal } = new AbortController();
    const order: unknown[] = [];
    const names = ["first", "second", "third", "fourth", "fifth"];
    const calls = [pass("first")];
    await begun("first");
    for (const [at, name] of names.slice(1).entries()) calls.push(pass(name, at % 2 === 0 ? signal : undefined));
    const all = calls.map((call) => call.then((name) => order.push(name)));
    await open(...names);
    await Promise.all(all);
    expect(order).toEqual(names);
  });
});
