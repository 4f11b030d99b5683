// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: each has features that another one lacks. See docs/browsers.md.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toBase64 } from "../../src/browser/extension.js";
import { connect, memoryPair } from "../../src/channel.js";
import { builtUrl, plainPool, testPool } from "../fixtures/pools.js";

const stream = (...values: unknown[]): never =>
  new ReadableStream({
    start: (controller) => {
      for (const value of values) controller.enqueue(value);
      controller.close();
    },
  }) as never;

describe("without iterable web streams", () => {
  const prototype = ReadableStream.prototype as { [Symbol.asyncIterator]?: unknown };
  const own = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator);
  beforeEach(() => void delete prototype[Symbol.asyncIterator]);
  afterEach(() => void (own && Object.defineProperty(prototype, Symbol.asyncIterator, own)));

  test("a task reads a stream that is an argument", async () => {
    expect(
      await testPool<typeof import("../fixtures/streams.tasks.js")>(builtUrl("streams")).call.first(stream("a")),
    ).toBe("a");
  });

  test("map reads its inputs from a stream", async () => {
    expect(await plainPool().map.echo(stream(1, 2))).toEqual([1, 2]);
  });

  test("a broadcast refuses a stream", async () => {
    await expect(plainPool().broadcast.echo(stream())).rejects.toThrow("only one worker could receive");
  });

  test("a channel serves the events of a stream", async () => {
    const [left, right] = memoryPair();
    const [a, b] = await Promise.all([connect(left), connect(right)]);
    b.events("numbers").serve(() => stream(1, 2));
    const seen: unknown[] = [];
    for await (const each of a.events("numbers").listen(undefined)) seen.push(each);
    expect(seen).toEqual([1, 2]);
    await a.close();
  });
});

test("without base64 of byte arrays, bytes become the same text", () => {
  const bytes = new Uint8Array([0, 250, 255]);
  Object.defineProperty(bytes, "toBase64", { value: undefined });
  expect(toBase64(bytes)).toBe("APr/");
});

test("a pool has a method for `await using`, also without the symbol, and no property named undefined", async () => {
  const pool = plainPool();
  expect("undefined" in pool).toBe(false);
  await pool[(Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")) as typeof Symbol.asyncDispose]();
  await expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "pool-closed" });
});
