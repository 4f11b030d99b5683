// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: each has other timers, clocks and channels.
// Child processes, too: they post with another function.
import { afterEach, describe, expect, test } from "vitest";
import { connect, memoryPair } from "../../src/channel.js";
import { captureGlobals } from "../../src/globals.js";
import { builtUrl, plainPool, testPool } from "../fixtures/pools.js";

const names = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "clearImmediate",
  "queueMicrotask",
  "requestAnimationFrame",
  "structuredClone",
  "performance",
  "Promise",
  "MessageChannel",
  "AbortController",
  "Date",
];
const scope = globalThis as unknown as Record<string, unknown>;
const real = Object.fromEntries(names.map((name) => [name, Object.getOwnPropertyDescriptor(scope, name)]));

afterEach(() => {
  for (const name of names) {
    const descriptor = real[name];
    if (descriptor) Object.defineProperty(scope, name, descriptor);
    else delete scope[name];
  }
});

/** Replaces every global by one that throws. Returns the names that were used, also where the library would hide the error. */
function replaceAll(): string[] {
  const used: string[] = [];
  for (const name of names) {
    const value = scope[name];
    if (value === undefined) continue;
    const get = (): unknown => {
      // The test's runner uses these globals, too.
      const caller = new Error().stack
        ?.split("\n")
        .find((line) => /:\d+:\d+\)?$/.test(line) && !line.includes("replaced-globals"));
      if (caller?.includes("vitest")) return value;
      used.push(`${name} ${caller}`);
      throw new Error(`the library uses the global ${name}`);
    };
    // In browsers the runner sets its own ones for a while.
    Object.defineProperty(scope, name, { get, set: () => {}, configurable: true });
  }
  return used;
}

const restoreAll = (): void => {
  for (const name of names) if (real[name]) Object.defineProperty(scope, name, real[name]);
};

describe("with every global of the host replaced", () => {
  test("calls, streams and close() settle", async () => {
    const pool = plainPool();
    expect(await pool.call.add(1, 2)).toBe(3);
    const used = replaceAll();
    const results: number[] = [];
    let values = 0;
    try {
      for (let index = 0; index < 300; index++) results.push(await pool.call.add(index, 1));
      for await (const _ of pool.call.yieldsNested(1)) values++;
      await pool.close();
    } finally {
      restoreAll();
    }
    expect(used).toEqual([]);
    expect(results).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
    expect(values).toBe(2);
  });

  test("a pool that is made afterwards works, too", async () => {
    const warm = plainPool();
    await warm.call.add(1, 1);
    const used = replaceAll();
    let result: number;
    try {
      const pool = plainPool();
      result = await pool.with({ timeoutMs: 600_000 }).call.add(1, 2);
      await pool.close();
    } finally {
      restoreAll();
    }
    expect(used).toEqual([]);
    expect(result).toBe(3);
  });

  test("a clock that a test assigns, as Sinon does, is not read", () => {
    const captured = captureGlobals();
    const startMs = captureGlobals().now();
    const { performance } = globalThis;
    Object.assign(globalThis, { performance: Object.create(null) });
    const endMs = captured.now();
    Object.assign(globalThis, { performance });
    expect(endMs).toBeGreaterThanOrEqual(startMs);
    expect(endMs).toBeLessThan(startMs + 3_600_000);
  });

  test("calls of a channel are answered, with and without limits of time, and close() settles", async () => {
    const [left, right] = memoryPair();
    const [a, b] = await Promise.all([connect(left), connect(right)]);
    b.methods("echo").handle((_method, value) => value);
    const used = replaceAll();
    const results: unknown[] = [];
    try {
      results.push(await a.methods("echo").call("same", 3));
      results.push(await a.methods("echo").call("same", 4, { timeoutMs: 600_000, deadlineMs: 600_000 }));
      await a.close();
    } finally {
      restoreAll();
    }
    expect(used).toEqual([]);
    expect(results).toEqual([3, 4]);
  });
});

test("a task that replaces every function that posts is answered, and so are the calls after it", async () => {
  const pool = testPool<typeof import("../fixtures/worn.tasks.js")>(builtUrl("worn"));
  expect(await pool.call.replacesPosting()).toBe(1);
  const naturals: number[] = [];
  for await (const value of pool.call.naturals()) if (naturals.push(value) === 3) break;
  expect(naturals).toEqual([0, 1, 2]);
  expect(await pool.call.sizeOf("four")).toBe(4);
  // Crosses in pieces.
  expect((await pool.call.rows(20_000)).at(-1)).toEqual({ id: 19_999 });
  await pool.close();
});
