// SPDX-License-Identifier: MIT OR Apache-2.0
import { AsyncLocalStorage } from "node:async_hooks";
import { Writable } from "node:stream";
import { MessageChannel } from "node:worker_threads";
import { move } from "clearway";
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";
import { behaviours, outcomes, peerPool } from "./behaviours.js";

behaviours("a call", {
  "gives the result of a synchronous function": async () => expect(await peerPool().call.add(2, 3)).toBe(5),
  "gives the result of an asynchronous function": async () => expect(await peerPool().call.later(7)).toBe(7),
  "gives undefined if the function returns nothing": async () =>
    expect(await peerPool().call.nothing()).toBeUndefined(),
  "chooses one of several functions of the module by its name": async () => {
    const { call } = peerPool();
    expect([await call.add(1, 2), await call.greet({ name: "Ann" })]).toEqual([3, "hello Ann"]);
  },
  "of a name that the module does not have fails, with the names that it has": async () => {
    const { call } = peerPool();
    const reason = await reasonOf((call as unknown as { nope(): Promise<void> }).nope());
    expect(reason).toMatchObject({ code: "unknown-task", message: expect.stringContaining("greet") });
  },
  "may be made before a worker is ready": async () => {
    const { call, stats } = peerPool();
    const early = call.add(1, 1);
    expect(stats().workers.ready).toBe(0);
    expect(await early).toBe(2);
  },
  "may be made from the result of another one, many times": async () => {
    const { call } = peerPool();
    let value = 0;
    for (let at = 0; at < 200; at++) value = await call.add(value, 1);
    expect(value).toBe(200);
  },
  "gets its own result among thousands": async () => {
    const { call } = peerPool({ size: 2 });
    const inputs = Array.from({ length: 3000 }, (_, at) => at);
    expect(await Promise.all(inputs.map((at) => call.add(at, 1)))).toEqual(inputs.map((at) => at + 1));
  },
  "may be one of many in each turn, without a growing stack": async () => {
    const { call } = peerPool();
    const nest = async (depth: number): Promise<number> => (depth === 0 ? 0 : (await nest(depth - 1)) + 1);
    expect(await Promise.all([nest(500), ...Array.from({ length: 500 }, () => call.add(0, 1))])).toHaveLength(501);
  },
  "keeps the caller's AsyncLocalStorage after its result, and in its listener": async () => {
    const storage = new AsyncLocalStorage<string>();
    const { with: withOptions } = peerPool();
    const seen: unknown[] = [];
    await storage.run("mine", async () => {
      await withOptions({ onProgress: () => void seen.push(storage.getStore()) }).call.emit([1]);
      seen.push(storage.getStore());
    });
    expect(seen).toEqual(["mine", "mine"]);
  },
  "of a module that prints is not blocked by the lines, also in a busy worker": async () => {
    const lines: string[] = [];
    const stdout = new Writable({
      write(chunk, _, done) {
        lines.push(...String(chunk).trimEnd().split("\n"));
        done();
      },
    });
    const made = testPool<typeof import("../fixtures/prints.tasks.js")>(builtUrl("prints"), { stdout });
    expect(await made.call.print(40)).toBe(40);
    await expect.poll(() => lines.length).toBe(40);
  },
});

describe("an error", () => {
  const kinds = [
    ["error", { name: "Error", message: "an error" }],
    ["type", { name: "TypeError", message: "a type" }],
    ["own", { name: "StockError", message: "out of stock", code: "E_STOCK", left: 2 }],
    ["cause", { message: "outer", cause: { name: "SyntaxError", message: "inner" } }],
    ["object", { status: 404 }],
    ["text", "a text"],
    ["number", 5],
    ["null", null],
  ] as const;

  test.each(kinds)("of the kind %s reaches the caller, thrown or rejected", async (kind, expected) => {
    const { call } = peerPool();
    for (const made of [call.throws(kind), call.rejects(kind)]) {
      const reason = await reasonOf(made);
      if (typeof expected === "object" && expected !== null) expect(reason).toMatchObject(expected);
      else expect(reason).toBe(expected);
    }
  });

  test("fails its own call only, and its worker goes on", async () => {
    const { call } = peerPool();
    const before = await call.who();
    expect(await outcomes([call.throws("own"), call.add(1, 2), call.rejects("type"), call.add(3, 4)])).toEqual([
      "E_STOCK",
      3,
      "TypeError",
      7,
    ]);
    expect(await call.who()).toBe(before);
  });

  test("is made for an argument that cannot be cloned, and no other call fails", async () => {
    const { call } = peerPool();
    const bad = [() => 1, Symbol("s"), new WeakMap(), { inner: () => 1 }];
    expect(await outcomes([...bad.map((each) => call.echo(each)), call.add(1, 1)])).toEqual([
      ...bad.map(() => "not-cloneable"),
      2,
    ]);
  });
});

describe("memory under move()", () => {
  const memory: [string, () => ArrayBufferView | ArrayBuffer][] = [
    ["an ArrayBuffer", () => new ArrayBuffer(40)],
    ["a Uint8Array", () => new Uint8Array(40)],
    ["a Float64Array", () => new Float64Array(5)],
    ["a DataView", () => new DataView(new ArrayBuffer(40))],
  ];

  test.each(memory)("leaves the caller: %s", async (_, make) => {
    const value = make();
    const { call, stats } = peerPool();
    expect(await call.length(move(value as ArrayBuffer))).toBe(40);
    expect((value instanceof ArrayBuffer ? value : value.buffer).byteLength).toBe(0);
    expect(stats().ledger.toWorkers).toMatchObject({ movedBytes: 40, copiedBytes: 0 });
  });

  test.each(memory)("that is not marked is copied: %s", async (_, make) => {
    const value = make();
    expect(await peerPool().call.length(value)).toBe(40);
    expect(value.byteLength).toBe(40);
  });

  behaviours("of a task", {
    "moves to the caller with the mark": async () => expect(await peerPool().call.result(true)).toHaveLength(1000),
    "moves to the caller without the mark, too": async () => {
      const { call, stats } = peerPool();
      expect(await call.result(false)).toHaveLength(1000);
      expect(stats().ledger.fromWorkers).toMatchObject({ movedBytes: 1000, copiedBytes: 0 });
    },
  });

  behaviours("may be a MessagePort:", {
    "a worker answers on the port": async () => {
      const { port1, port2 } = new MessageChannel();
      await peerPool().call.serve(move(port2 as unknown as MessagePort));
      const heard = new Promise((resolve) => port1.once("message", resolve));
      port1.postMessage(21);
      expect(await heard).toBe(42);
      port1.close();
    },
    "a port without the mark": async () => {
      const { port1, port2 } = new MessageChannel();
      expect(await outcomes([peerPool().call.serve(port2 as unknown as MessagePort)])).toEqual(["not-cloneable"]);
      port1.close();
    },
  });

  test.each([1, "text", null, undefined, true])("may be a primitive, which is unchanged: %j", async (value) => {
    expect(await peerPool().call.echo(move(value as never))).toBe(value);
  });

  test("cannot be moved twice", async () => {
    const { call } = peerPool();
    const bytes = new Uint8Array(8);
    await call.length(move(bytes));
    expect(await outcomes([call.length(move(bytes))])).toEqual(["not-cloneable"]);
  });
});
