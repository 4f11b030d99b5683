// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { frameSlots, Op } from "../../src/transport/protocol.js";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Worn = typeof import("../fixtures/worn.tasks.js");

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

const isResult = (message: unknown): boolean =>
  Array.isArray(message) && message.some((each, at) => at % frameSlots === 0 && each === Op.Result);

/** Creates a pool with hooks: `tear` reports an unreadable message to the pool, `loseResult` makes the next result unreadable. */
async function held() {
  const workers: { tear(): void; loseResult(): void }[] = [];
  const Worker = inNode ? (await import("node:worker_threads")).Worker : globalThis.Worker;
  const pool = testPool<Worn>(
    () => {
      const worker = new Worker(builtUrl("worn"), { type: "module" } as object);
      workers.push(inNode ? nodeWorker(worker as never) : pageWorker(worker as never));
      return worker as never;
    },
    { concurrency: 2 },
  );
  return { pool, worker: () => workers.at(-1)!, made: () => workers.length };
}

function nodeWorker(worker: import("node:events").EventEmitter) {
  const tear = (): void => void worker.emit("messageerror", new Error("torn"));
  const loseResult = (): void => {
    const emit = worker.emit;
    worker.emit = (event: string, ...args: unknown[]) => {
      if (event !== "message" || !isResult(args[0])) return emit.call(worker, event, ...args);
      worker.emit = emit;
      tear();
      return true;
    };
  };
  return { tear, loseResult };
}

function pageWorker(worker: Worker) {
  const tear = (): void => void worker.dispatchEvent(new MessageEvent("messageerror"));
  let armed = false;
  worker.addEventListener("message", (event) => {
    if (!armed || !isResult(event.data)) return;
    armed = false;
    event.stopImmediatePropagation();
    tear();
  });
  return {
    tear,
    loseResult: () => {
      armed = true;
    },
  };
}

// Too large for the ring.
const large = 10_000;

describe("an unreadable message", () => {
  test("from the worker fails only the call whose answer it contained", async () => {
    const { pool, worker } = await held();
    const before = await pool.call.who();
    const other = reasonOf(pool.call.hold());
    await pool.ping();
    worker().loseResult();
    expect(await reasonOf(pool.call.large(large))).toMatchObject({ name: "ClearwayError", code: "message-error" });
    expect((await pool.call.large(large)).length).toBe(large);
    expect(await pool.call.who()).toBe(before);
    expect(pool.stats()).toMatchObject({ open: 1, workers: { size: 1, restarts: 0 } });
    await pool.terminate();
    expect(await other).toMatchObject({ code: "pool-terminated" });
  });

  test("to the worker fails only the calls that it contained", async () => {
    const { pool } = await held();
    const before = await pool.call.who();
    const other = reasonOf(pool.call.hold());
    await pool.call.loseNext();
    const text = "x".repeat(large);
    expect(await reasonOf(pool.call.sizeOf(text))).toMatchObject({ name: "ClearwayError", code: "message-error" });
    expect(await pool.call.sizeOf(text)).toBe(large);
    expect(await pool.call.who()).toBe(before);
    expect(pool.stats()).toMatchObject({ open: 1, workers: { size: 1, restarts: 0 } });
    await pool.terminate();
    expect(await other).toMatchObject({ code: "pool-terminated" });
  });

  test("fails a stream whose value it may have contained", async () => {
    const { pool, worker } = await held();
    const stream = pool.call.naturals();
    expect(await stream.next()).toEqual({ done: false, value: 0 });
    worker().tear();
    const end = async (): Promise<void> => {
      for await (const _each of stream);
    };
    expect(await reasonOf(end())).toMatchObject({ code: "message-error" });
    expect(await pool.call.who()).toBeTypeOf("number");
  });

  test("has no effect while the worker has no calls", async () => {
    const { pool, worker } = await held();
    const before = await pool.call.who();
    worker().tear();
    expect(await pool.call.who()).toBe(before);
    expect(pool.stats().workers).toMatchObject({ restarts: 0, ready: 1 });
  });

  test("before the worker is ready fails the waiting calls, and starts no other worker for them", async () => {
    const { pool, worker, made } = await held();
    const waiting = [reasonOf(pool.ready()), reasonOf(pool.call.who())];
    worker().tear();
    for (const reason of await Promise.all(waiting)) expect(reason).toMatchObject({ code: "message-error" });
    expect(made()).toBe(1);
    expect(await pool.call.who()).toBeTypeOf("number");
  });

  // Newer versions of Node refuse to post it.
  test.runIf(inNode && !("detached" in ArrayBuffer.prototype))("from the module itself fails no call", async () => {
    const pool = testPool<Worn>(builtUrl("worn"));
    expect(await pool.call.postsUnreadable()).toBe("posted");
    expect(await pool.call.who()).toBeTypeOf("number");
    expect(pool.stats().workers.restarts).toBe(0);
  });
});
