// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ClearwayError, move, pool } from "clearway";
import { expect, test } from "vitest";
import { decodeError, encodeError } from "../../src/error/wire.js";
import { findMemory } from "../../src/transfer/find-memory.js";
import { findMovable } from "../../src/transfer/move.js";
import { plainPool, plainUrl, reasonOf } from "../fixtures/pools.js";

/** Tests the contract for values from another realm: an iframe, a `vm` context, a test runner. `evaluate` runs code in that realm. */
export function foreignRealm(evaluate: (code: string) => unknown): void {
  test("a buffer of another realm is not an instance of this realm's classes", () => {
    expect(evaluate("new ArrayBuffer(8)")).not.toBeInstanceOf(ArrayBuffer);
  });

  test.each([
    ["a buffer", "new ArrayBuffer(8)"],
    ["a view", "new Uint8Array(8)"],
    ["a DataView", "new DataView(new ArrayBuffer(8))"],
    ["a buffer in an object", "({ deep: [new ArrayBuffer(8)] })"],
    ["a buffer in a Map", "new Map([['a', new Uint8Array(8)]])"],
    ["a buffer that keys a Map", "new Map([[new Uint8Array(8), 'a']])"],
    ["a buffer in a Set", "new Set([new Uint8Array(8)])"],
    [
      "two views that show all of a buffer",
      "(b => [new Uint8Array(b, 0, 4), new Uint8Array(b, 4)])(new ArrayBuffer(8))",
    ],
  ])("%s of another realm moves under move()", async (_name, code) => {
    const value = evaluate(code);
    const [buffer] = findMemory(value, 100).transfer as ArrayBuffer[];
    expect(buffer!.byteLength).toBe(8);
    const made = plainPool();
    await made.call.echo(move(value));
    expect(buffer!.byteLength).toBe(0);
    expect(made.stats().ledger.toWorkers).toMatchObject({ movedBytes: 8, copiedBytes: 0 });
  });

  test.each([
    ["a view", "new Uint8Array(8)"],
    ["a Map", "new Map([['a', new Uint8Array(8)]])"],
    ["a Set", "new Set([new Uint8Array(8)])"],
  ])("%s of another realm is not copied silently under strict", async (_name, code) => {
    const made = plainPool({ strict: true });
    expect(await reasonOf(made.call.echo(evaluate(code)))).toMatchObject({
      code: "would-copy",
      message: "strict: 8 bytes would have been copied (argument-not-moved)",
    });
  });

  test("a part of a buffer in a Map of another realm is sent without the rest of its buffer", () => {
    const { value, transfer } = findMovable(evaluate("new Map([['a', new Uint8Array(new ArrayBuffer(100), 8, 4)]])"));
    const crossed = structuredClone(value as Map<string, Uint8Array>, { transfer: transfer as ArrayBuffer[] });
    expect(crossed.get("a")!.byteLength).toBe(4);
    expect(crossed.get("a")!.buffer.byteLength).toBe(4);
  });

  test("errors, dates and patterns of another realm are not searched", () => {
    const value = evaluate("[Object.assign(new Error('x'), { b: new ArrayBuffer(8) }), new Date(0), /x/]");
    expect(findMemory(value, 100)).toMatchObject({ transfer: [], copies: [] });
  });

  test("a URL of another realm can be a pool's source", async () => {
    const realm = evaluate("typeof URL === 'function' ? URL : undefined") as typeof URL | undefined;
    if (!realm) return; // a bare `vm` context has no URL
    const source = new realm(plainUrl.href);
    expect(source).not.toBeInstanceOf(URL);
    const made = pool<typeof import("../fixtures/plain.tasks.js")>(source, { size: 1 });
    expect(await made.call.add(1, 2)).toBe(3);
    await made.terminate();
  });

  test("an error of another realm crosses with its name, properties, cause and errors", () => {
    const thrown = evaluate(
      `Object.assign(new AggregateError([new RangeError("one")], "all", { cause: new TypeError("why") }), { extra: 5 })`,
    );
    expect(thrown).not.toBeInstanceOf(Error);
    const error = decodeError(structuredClone(encodeError(thrown))) as AggregateError & { extra: number };
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ name: "AggregateError", message: "all", extra: 5 });
    expect(error.errors[0]).toBeInstanceOf(RangeError);
    expect(error.cause).toBeInstanceOf(TypeError);
    const [firstLine] = (thrown as Error).stack!.split("\n");
    expect((error as unknown as ClearwayError).stack).toContain(firstLine);
  });
}
