// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Worn = typeof import("../fixtures/worn.tasks.js");

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

/** A pool whose workers we hold, and a way to tell it that a message of the last one could not be read. */
async function held() {
  const workers: { onNode(): void; onPage(): void }[] = [];
  const Worker = inNode ? (await import("node:worker_threads")).Worker : globalThis.Worker;
  const pool = testPool<Worn>(() => {
    const worker = new Worker(builtUrl("worn"), { type: "module" } as object);
    workers.push({
      onNode: () => (worker as unknown as import("node:events").EventEmitter).emit("messageerror", new Error("torn")),
      onPage: () => (worker as unknown as EventTarget).dispatchEvent(new MessageEvent("messageerror")),
    });
    return worker as never;
  });
  const tear = (): void => (inNode ? workers.at(-1)!.onNode() : workers.at(-1)!.onPage());
  return { pool, tear, made: () => workers.length };
}

describe("a message that cannot be read", () => {
  test("from the worker fails the calls that are with it, whose answer it may have been, and the worker is replaced", async () => {
    const { pool, tear } = await held();
    await pool.ready();
    const before = await pool.call.who();
    const lost = reasonOf(pool.call.hold());
    await pool.ping();
    tear();
    expect(await lost).toMatchObject({ name: "ClearwayError", code: "message-error" });
    expect(await pool.call.who()).not.toBe(before);
    expect(pool.stats().workers).toMatchObject({ size: 1, restarts: 1 });
  });

  test("by the worker fails the calls that are with it, one of which it may have been, and the worker is replaced", async () => {
    const pool = testPool<Worn>(builtUrl("worn"));
    const before = await pool.call.who();
    expect(await reasonOf(pool.call.unreadable())).toMatchObject({ name: "ClearwayError", code: "message-error" });
    expect(await pool.call.who()).not.toBe(before);
  });

  test("while nothing is with the worker costs no call", async () => {
    const { pool, tear } = await held();
    await pool.call.who();
    tear();
    await expect.poll(() => pool.stats().workers).toMatchObject({ restarts: 1, ready: 1 });
    expect(await pool.call.who()).toBeTypeOf("number");
  });

  test("before the worker is ready fails what waits for it, and no other is started for that", async () => {
    const { pool, tear, made } = await held();
    const waiting = [reasonOf(pool.ready()), reasonOf(pool.call.who())];
    tear();
    for (const reason of await Promise.all(waiting)) expect(reason).toMatchObject({ code: "message-error" });
    expect(made()).toBe(1);
    expect(await pool.call.who()).toBeTypeOf("number");
  });

  // Newer ones refuse to post it.
  test.runIf(inNode && !("detached" in ArrayBuffer.prototype))("is told of by Node 20 itself", async () => {
    const pool = testPool<Worn>(builtUrl("worn"));
    expect(await reasonOf(pool.call.postsUnreadable())).toMatchObject({ code: "message-error" });
  });
});
