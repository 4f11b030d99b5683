// SPDX-License-Identifier: MIT OR Apache-2.0
import { type JetStreamManager, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Objm } from "@nats-io/obj";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { readCallback, writeCall, writeOutcome } from "../../src/durable/layout.js";
import { namesOf, objectName } from "../../src/durable/names.js";
import type { DurableCallers, DurablePool } from "../../src/durable/pool.js";
import { StoredResults } from "../../src/durable/result-reader.js";
import { encodeCall, wireCodec } from "../../src/wire/call.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { FakeConnection } from "../fixtures/fake-connection.js";
import { noServer, startServer } from "../server/nats-server.js";
import { caller, connection, logFile, serve, type Work } from "./harness.js";

// Stores a call as `submit()` does when the servers have forgotten its id.
async function store(nats: NatsConnection, id: string, task: string, args: unknown[]): Promise<void> {
  const bytes = encodeCall(wireCodec(), { task, args, options: undefined });
  const body = writeCall({ id, caller: "", callback: "", cancellable: false, content: { bytes } });
  await jetstream(nats).publish(namesOf("work", "0").plain("normal"), body);
}

describe.skipIf(noServer)("a submitted call", () => {
  test("survives its caller: another process reads its result by the id", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const first = await caller(nats);
    const id = await first.submit("add", [2, 3]);
    await first.terminate();
    await serve(await connection(server.url));
    const second = await caller(await connection(server.url));
    await expect(second.result(id)).resolves.toBe(5);
    // The outcome stays until its age deletes it.
    await expect(second.result(id)).resolves.toBe(5);
  });

  test("has a result that can be awaited before there is one", async () => {
    const server = await startServer();
    const work = await caller(await connection(server.url));
    const id = await work.submit("add", [1, 2], { id: "order-17" });
    expect(id).toBe("order-17");
    const result = work.result("order-17");
    await serve(await connection(server.url));
    await expect(result).resolves.toBe(3);
  });

  test("rejects its result with the task's error", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await serve(nats);
    const work = await caller(nats);
    const id = await work.submit("fail", ["gone"]);
    await expect(work.result(id)).rejects.toMatchObject({ name: "NotFound", code: "E_NOT_FOUND" });
  });

  test("runs once when it is submitted twice with one id", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    await work.submit("effect", [log.path, "once"], { id: "once" });
    await work.submit("effect", [log.path, "once"], { id: "once" });
    const worker = await serve(nats);
    await work.result("once");
    await work.call.add(1, 1);
    expect(log.lines()).toEqual(["once"]);
    expect(worker.stats()).toMatchObject({ received: 2, duplicates: 0 });
  });

  test("with the id of one that has ended runs, if the servers take it for another call", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const worker = await serve(nats, { idempotent: ["effect"] });
    const work = await caller(nats);
    for (const line of ["first", "second"]) {
      await store(nats, "again", "effect", [log.path, line]);
      await log.until((lines) => lines.includes(line));
      await expect.poll(() => worker.stats().open).toBe(0);
    }
    expect(worker.stats()).toMatchObject({ received: 2, duplicates: 0 });
    await expect(work.result("again")).resolves.toBe("first");
  });

  test("with the id of one that runs is the same call, and only the first stays in the queue", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const worker = await serve(nats);
    const work = await caller(nats);
    const args = [log.path, "x", log.beside("gate")];
    await store(nats, "open", "held", args);
    await log.until((lines) => lines.includes("begun x"));
    await store(nats, "open", "held", args);
    await expect.poll(() => worker.stats().duplicates).toBe(1);
    const manager = await jetstreamManager(nats);
    const waiting = async () => (await manager.streams.info(namesOf("work", "0").calls)).state.messages;
    await expect.poll(waiting).toBe(1);
    log.create("gate");
    await expect(work.result("open")).resolves.toBe("x");
    await expect.poll(waiting).toBe(0);
    expect(log.lines()).toEqual(["begun x", "ended x"]);
  });

  test("publishes its outcome to a callback subject that the worker allows", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await serve(nats);
    const work = await caller(nats);
    const received: Msg[] = [];
    const two = new Promise<void>((resolve) => {
      nats.subscribe("clearway.callback.orders", {
        callback: (_error, message) => {
          received.push(message);
          if (received.length === 2) resolve();
        },
      });
    });
    await work.submit("add", [20, 3], { id: "a", callback: "clearway.callback.orders" });
    await work.submit("fail", ["no stock"], { id: "b", callback: "clearway.callback.orders" });
    await two;
    const outcomes = received.map(({ data }) => readCallback(data)).sort((a, b) => a.id.localeCompare(b.id));
    expect(outcomes).toMatchObject([
      { id: "a", ok: true, value: 23 },
      { id: "b", ok: false, error: { message: "no stock", code: "E_NOT_FOUND" } },
    ]);
  });

  test("publishes nothing to a subject that the worker does not allow, and still stores its outcome", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const worker = await serve(nats);
    const work = await caller(nats);
    const id = await work.submit("add", [1, 1], { callback: "orders.done" });
    await expect(work.result(id)).resolves.toBe(2);
    await expect
      .poll(() => worker.errors)
      .toMatchObject([{ code: "invalid-argument", message: /callback=orders\.done/ }]);
  });

  test("keeps a large result as an object that can be read again", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await serve(nats);
    const work = await caller(nats);
    const id = await work.submit("bytes", [1_500_000]);
    expect(((await work.result(id)) as Uint8Array).length).toBe(1_500_000);
    expect(((await work.result(id)) as Uint8Array).length).toBe(1_500_000);
  });

  test.each([
    [["add", [1, 2], { id: "a.b" }], 'id must be 1 to 128 letters, digits, hyphens and underscores: id="a.b"'],
    [["add", [1, 2], { callback: "a.>" }], "callback must be a subject of at most 255 characters"],
    [["add", 5], "args must be an array of the task's arguments: args=5"],
    [["", []], 'task must be the name of a task: task=""'],
    [["add", [1, 2], { signal: AbortSignal.abort() }], "signal must be a known option"],
  ])("is refused with wrong parts: %j", async (args, message) => {
    const server = await startServer();
    const work = await caller(await connection(server.url));
    const submit = work.submit as (...parts: unknown[]) => Promise<string>;
    await expect(submit(...(args as unknown[]))).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(submit(...(args as unknown[]))).rejects.toThrow(message);
  });
});

describe.skipIf(noServer)("waiting for a result", () => {
  test("ends with the deadline or the signal, and the call goes on", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const id = await work.submit("add", [1, 2]);
    await expect(work.result(id, { deadlineMs: 20 })).rejects.toMatchObject({ code: "deadline" });
    const controller = new AbortController();
    const waiting = work.result(id, { signal: controller.signal });
    controller.abort(new Error("bored"));
    await expect(waiting).rejects.toThrow("bored");
    await serve(nats);
    await expect(work.result(id)).resolves.toBe(3);
  });

  test("ends with the signal also while a large result is read", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const { values, result } = namesOf("work", "0");
    const object = objectName("x");
    await (await new Objm(jetstream(nats)).create(values)).putBlob({ name: object }, new Uint8Array(5));
    // Without its chunks, the object never comes.
    await (await jetstreamManager(nats)).streams.purge(`OBJ_${values}`, { filter: `$O.${values}.C.>` });
    nats.publish(result("x"), writeOutcome({ id: "x", content: { object, objectBytes: 5 } }));
    const controller = new AbortController();
    const waiting = work.result("x", { signal: controller.signal });
    await expect.poll(() => work.stats().bytes.received).toBeGreaterThan(0);
    controller.abort(new Error("bored"));
    await expect(waiting).rejects.toThrow("bored");
  });

  test("ends when the pool ends", async () => {
    const server = await startServer();
    const work = await caller(await connection(server.url));
    const waiting = work.result("never");
    const rejected = expect(waiting).rejects.toMatchObject({ code: "pool-terminated" });
    await work.terminate();
    await rejected;
  });

  test("fails with transport-closed while the connection drains", async () => {
    const nats = await connection((await startServer()).url);
    const work = await caller(nats);
    const drained = nats.drain();
    await expect(work.result("x")).rejects.toMatchObject({ code: "transport-closed" });
    await drained;
  });
});

test("result() of an id that was submitted again never returns the outcome that the servers refused", async () => {
  useFakeTimers();
  onTestFinished(useRealTimers);
  const fake = new FakeConnection();
  const names = namesOf("work", "0");
  const [first, refused] = ["the first outcome", "the refused outcome"];
  let stored: string | undefined;
  let looks = 0;
  const getMessage = async () => {
    looks++;
    return stored === undefined ? null : { data: new TextEncoder().encode(stored) };
  };
  const manager = { streams: { getMessage } } as unknown as JetStreamManager;
  const results = new StoredResults(fake.nats, manager, names, { check: async () => true, onLost: () => () => {} });
  const waiting = results.wait("again", new AbortController().signal);
  let received: string | undefined;
  const read = waiting.then((body) => (received = new TextDecoder().decode(body)));
  await vi.advanceTimersByTimeAsync(0);
  fake.deliver(names.result("again"), { body: refused });
  await vi.advanceTimersByTimeAsync(1);
  expect({ received, looks }).toEqual({ received: undefined, looks: 2 });
  // The next looks come soon, and not only after two seconds.
  stored = first;
  await vi.advanceTimersByTimeAsync(100);
  expect(received).toBe(first);
  await read;
  expect(vi.getTimerCount()).toBe(0);
});

describe("the type of a durable pool", () => {
  test("has the module's plain functions and none of its streams", () => {
    expectTypeOf<DurableCallers<Work>["add"]>().returns.toEqualTypeOf<Promise<number>>();
    expectTypeOf<DurableCallers<Work>["held"]>().returns.toEqualTypeOf<Promise<string>>();
    expectTypeOf<"count" extends keyof DurableCallers<Work> ? true : false>().toEqualTypeOf<false>();
  });

  test("checks the task and the arguments of submit()", () => {
    const submit = (pool: DurablePool<Work>): unknown[] => [
      pool.submit("add", [1, 2]),
      // @ts-expect-error the task does not exist
      pool.submit("subtract", [1, 2]),
      // @ts-expect-error the argument is no number
      pool.submit("add", [1, "2"]),
      // @ts-expect-error a stream cannot be submitted
      pool.submit("count", [1]),
      // @ts-expect-error a submitted call has no signal
      pool.submit("add", [1, 2], { signal: AbortSignal.timeout(1) }),
    ];
    expectTypeOf(submit).returns.toEqualTypeOf<unknown[]>();
  });
});
