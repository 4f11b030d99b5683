// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstreamManager } from "@nats-io/jetstream";
import { DrainingConnectionError } from "@nats-io/transport-node";
import { move } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { namesOf } from "../../src/durable/names.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { notCalledByLanguage } from "../fixtures/not-called.js";
import { noServer, startServer } from "../server/nats-server.js";
import { caller, connection, type Ends, logFile, serve } from "./harness.js";

async function ends(settings: Ends = {}) {
  const server = await startServer();
  const nats = await connection(server.url);
  const worker = await serve(await connection(server.url), settings);
  return { server, nats, worker, work: await caller(nats, settings) };
}

describe.skipIf(noServer)("a durable call", () => {
  test("returns the task's result", async () => {
    const { work, worker } = await ends();
    await expect(work.call.add(2, 3)).resolves.toBe(5);
    expect(work.stats()).toMatchObject({ open: 0, calls: 1, ok: 1, failed: 0, unexpected: 0 });
    await expect
      .poll(() => worker.stats())
      .toMatchObject({ open: 0, received: 1, answered: 1, duplicates: 0, interrupted: 0 });
  });

  test("is not made by an await of the functions, nor by a logger that writes them as JSON or text", async () => {
    const { work } = await ends();
    await notCalledByLanguage([work.call, work.with({ key: "k" }).call]);
    expect(work.stats().calls).toBe(0);
  });

  test("carries every value of the standard codec", async () => {
    const { work } = await ends();
    const value = { list: [1, 2.5, null, "é", true, 2n ** 70n], bytes: Uint8Array.of(1, 2), nested: { a: [[]] } };
    await expect(work.call.echo(value)).resolves.toEqual(value);
  });

  test("takes an argument under move()", async () => {
    const { work } = await ends();
    await expect(work.call.lengthOf(move(new Uint8Array(1_000)))).resolves.toBe(1_000);
  });

  test("rejects with the task's error, its class name, code and both stacks", async () => {
    const { work } = await ends();
    const failed = work.call.fail("no such image");
    await expect(failed).rejects.toMatchObject({ name: "NotFound", message: "no such image", code: "E_NOT_FOUND" });
    const { stack } = await failed.catch((reason: Error) => reason);
    expect(stack).toMatch(/work\.tasks/);
    expect(stack).toMatch(/calls\.test/);
  });

  test("rejects with unknown-task when the module has no such task", async () => {
    const { work } = await ends();
    const call = work.call as unknown as { absent(): Promise<unknown> };
    await expect(call.absent()).rejects.toMatchObject({ code: "unknown-task" });
  });

  test("rejects when the task is a stream", async () => {
    const { work } = await ends();
    const call = work.call as unknown as { count(to: number): Promise<unknown> };
    await expect(call.count(3)).rejects.toMatchObject({ code: "invalid-argument", message: /is a stream/ });
  });

  test("rejects when its argument or its result has no form on the wire", async () => {
    const { work } = await ends();
    await expect(work.call.echo(() => 1)).rejects.toMatchObject({ code: "not-encodable" });
    await expect(work.call.notEncodable()).rejects.toMatchObject({ code: expect.any(String) });
    await expect(work.call.add(1, 1)).resolves.toBe(2);
  });

  test("waits until a worker process starts", async () => {
    const server = await startServer();
    const work = await caller(await connection(server.url));
    const sum = work.call.add(1, 2);
    await work.submit("add", [1, 1]);
    expect(work.stats().open).toBe(1);
    await serve(await connection(server.url));
    await expect(sum).resolves.toBe(3);
  });

  test("goes to a worker process of its version only", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const old = await serve(nats, { version: "1.0.0" });
    const recent = await serve(nats, { version: "1.1.0" });
    const work = await caller(nats, { version: "1.1.0" });
    await work.call.add(1, 1);
    expect([old.stats().received, recent.stats().received]).toEqual([0, 1]);
  });

  test("is one of many that share workers, and all get their own results", async () => {
    const { work, worker, server } = await ends();
    const second = await serve(await connection(server.url));
    const sums = await Promise.all(Array.from({ length: 500 }, (_, n) => work.call.add(n, 1)));
    expect(sums).toEqual(Array.from({ length: 500 }, (_, n) => n + 1));
    // A caller may have an outcome before its worker knows that it is stored.
    await expect.poll(() => worker.stats().answered + second.stats().answered).toBe(500);
    expect(worker.stats().malformed + second.stats().malformed + work.stats().unexpected).toBe(0);
  });

  test("leaves nothing in the queue and, after close, nothing in the results", async () => {
    const { work, worker, nats } = await ends();
    await Promise.all(Array.from({ length: 100 }, (_, n) => work.call.add(n, 1)));
    await work.close();
    await worker.close(10_000);
    const manager = await jetstreamManager(nats);
    const { calls, results } = namesOf("work", "0");
    expect((await manager.streams.info(calls)).state.messages).toBe(0);
    expect((await manager.streams.info(results)).state.messages).toBe(0);
  });
});

describe.skipIf(noServer)("the options of a durable call", () => {
  test("keep the order of calls with one key", async () => {
    const log = logFile();
    const { work, server } = await ends();
    await serve(await connection(server.url));
    const keyed = work.with({ key: "user-1" });
    await Promise.all(Array.from({ length: 30 }, (_, n) => keyed.call.effect(log.path, String(n))));
    expect(log.lines()).toEqual(Array.from({ length: 30 }, (_, n) => String(n)));
  });

  test.each(["timeoutMs", "signal"])("keep calls with one key apart when one of them ends by its %s", async (how) => {
    const log = logFile();
    const { work, worker, server, nats } = await ends();
    const other = await serve(await connection(server.url));
    const manager = await jetstreamManager(nats);
    const waiting = async () => (await manager.streams.info(namesOf("work", "0").calls)).state.messages;
    const controller = new AbortController();
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void useRealTimers());
    const limits = how === "signal" ? { signal: controller.signal } : { timeoutMs: 50 };
    const first = work.with({ key: "k", ...limits }).call.untilAborted(log.path, "x");
    const failed = expect(first).rejects.toBeDefined();
    await log.until((lines) => lines.includes("begun x"));
    const second = work.with({ key: "k" }).call.effect(log.path, "second");
    await expect.poll(waiting).toBe(2);
    if (how === "signal") controller.abort("enough");
    else vi.advanceTimersByTime(50);
    await failed;
    await log.until((lines) => lines.includes("aborted x"));
    await expect.poll(() => worker.stats().answered + other.stats().answered).toBe(1);
    // The second call would begin during these round trips.
    for (let trip = 0; trip < 50; trip++) await nats.flush();
    expect(await waiting()).toBe(2);
    expect(log.lines()).toEqual(["begun x", "aborted x"]);
    vi.advanceTimersByTime(1_000);
    await expect(second).resolves.toBe("second");
  });

  test("remove a cancelled call with a key from the queue, if it was not delivered", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const manager = await jetstreamManager(nats);
    const waiting = async () => (await manager.streams.info(namesOf("work", "0").calls)).state.messages;
    const controller = new AbortController();
    const call = work.with({ key: "k", signal: controller.signal }).call.add(1, 1);
    await expect.poll(waiting).toBe(1);
    controller.abort("enough");
    await expect(call).rejects.toBe("enough");
    await expect.poll(waiting).toBe(0);
  });

  test("put a call of higher priority before those that wait", async () => {
    const log = logFile();
    // No call waits for too long in this process, so it gives none back.
    useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void useRealTimers());
    const { work, worker } = await ends({ pool: { size: 1 }, idempotent: ["held", "effect"] });
    const first = work.call.held(log.path, "first", log.beside("gate"));
    await log.until((lines) => lines.length === 1);
    const low = work.with({ priority: -1 }).call.effect(log.path, "low");
    const high = work.with({ priority: 1 }).call.effect(log.path, "high");
    // The local pool has all of them before the gate opens.
    await expect.poll(() => worker.stats().received).toBe(3);
    log.create("gate");
    await Promise.all([first, low, high]);
    const lines = log.lines();
    expect(lines.indexOf("high")).toBeLessThan(lines.indexOf("low"));
  });

  test("end a task after timeoutMs", async () => {
    const log = logFile();
    const { work } = await ends();
    const call = work.with({ timeoutMs: 50 }).call.untilAborted(log.path, "x");
    await expect(call).rejects.toMatchObject({ code: "timeout" });
  });

  test("end a call without a worker after deadlineMs, and remove it from the queue", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    await expect(work.with({ deadlineMs: 50 }).call.add(1, 2)).rejects.toMatchObject({ code: "deadline" });
    expect(work.stats()).toMatchObject({ open: 0, cancelled: 1 });
    const manager = await jetstreamManager(nats);
    await expect.poll(async () => (await manager.streams.info(namesOf("work", "0").calls)).state.messages).toBe(0);
  });

  test("cancel a running task by a signal, with the signal's reason at the caller", async () => {
    const log = logFile();
    const { work } = await ends();
    const controller = new AbortController();
    const call = work.with({ signal: controller.signal }).call.untilAborted(log.path, "x");
    const rejected = expect(call).rejects.toThrow("enough");
    await log.until((lines) => lines.includes("begun x"));
    controller.abort(new Error("enough"));
    await rejected;
    await log.until((lines) => lines.includes("aborted x"));
    expect(work.stats().cancelled).toBe(1);
  });

  test("reject a call at once when its signal has aborted", async () => {
    const { work, worker } = await ends();
    const aborted = work.with({ signal: AbortSignal.abort(new Error("before")) });
    await expect(aborted.call.add(1, 1)).rejects.toThrow("before");
    expect(worker.stats().received).toBe(0);
  });

  test("reject a call whose signal aborts while its arguments are read, and do not store it", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const controller = new AbortController();
    const argument = {
      get late() {
        controller.abort(new Error("while encoding"));
        return 1;
      },
    };
    await expect(work.with({ signal: controller.signal }).call.echo(argument)).rejects.toThrow("while encoding");
    expect(work.stats()).toMatchObject({ open: 0, unconfirmed: 0, cancelled: 1 });
  });

  test("cancel a call also while its connection drains", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const controller = new AbortController();
    const call = work.with({ signal: controller.signal }).call.add(1, 1);
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    vi.spyOn(nats, "publish").mockImplementation(() => {
      throw new DrainingConnectionError();
    });
    // An error in a listener of the signal would end the process.
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    vi.restoreAllMocks();
  });

  test.each([
    [{ key: {} }, "key must be a finite number"],
    [{ priority: Number.NaN }, "priority must be a finite number"],
    [{ deadline: 5 }, "deadline must be a known option (the nearest is deadlineMs)"],
    [{ onProgress: () => {} }, "onProgress must be a known option"],
  ])("refuse %j", async (options, message) => {
    const work = await caller(await connection((await startServer()).url));
    expect(() => work.with(options as object)).toThrow(message);
  });
});

describe.skipIf(noServer)("large values", () => {
  test("travel as objects in both directions, which are deleted", async () => {
    const { work, worker, nats } = await ends({ serve: { objectBytesMin: 10_000 }, call: { objectBytesMin: 10_000 } });
    const bytes = new Uint8Array(3_000_000).map((_, at) => at);
    const copy = (await work.call.echo(bytes)) as Uint8Array;
    expect(Buffer.compare(copy, bytes)).toBe(0);
    expect(work.stats().objects.storedBytes).toBeGreaterThan(bytes.length);
    expect(worker.stats().objects.readBytes).toBe(work.stats().objects.storedBytes);
    expect(work.stats().objects.readBytes).toBe(worker.stats().objects.storedBytes);
    const manager = await jetstreamManager(nats);
    const chunks = async (): Promise<number> => {
      const { state } = await manager.streams.info(`OBJ_${namesOf("work", "0").values}`, {
        subjects_filter: "$O.*.C.>",
      });
      return Object.keys(state.subjects ?? {}).length;
    };
    await expect.poll(chunks).toBe(0);
  });

  test("above the servers' limit of a message need no option", async () => {
    const { work } = await ends();
    await expect(work.call.lengthOf(new Uint8Array(5_000_000))).resolves.toBe(5_000_000);
    expect(((await work.call.bytes(2_000_000)) as Uint8Array).length).toBe(2_000_000);
  });

  test("above valueBytesMax are refused at the end that has them", async () => {
    const { work } = await ends({ serve: { valueBytesMax: 1_024 }, call: { valueBytesMax: 10_000 } });
    await expect(work.call.lengthOf(new Uint8Array(20_000))).rejects.toMatchObject({ code: "too-large" });
    await expect(work.call.bytes(5_000)).rejects.toMatchObject({ code: "too-large" });
  });
});

describe.skipIf(noServer)("a worker process that starts with another ackWaitMs", () => {
  test("reports calls in work as often as the existing consumers need", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const first = await serve(nats, { serve: { ackWaitMs: 60_000 } });
    await first.close(0);
    const reports: string[] = [];
    nats.subscribe("$JS.ACK.CLEARWAY_work_0_calls.normal.>", {
      callback: (_error, message) => void reports.push(message.string()),
    });
    const other = await connection(server.url);
    useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void useRealTimers());
    await serve(other, { serve: { ackWaitMs: 600_000 } });
    const work = await caller(nats);
    const call = work.call.held(log.path, "x", log.beside("gate"));
    await log.until((lines) => lines.includes("begun x"));
    expect(reports).toEqual([]);
    vi.advanceTimersByTime(20_000);
    await expect.poll(() => reports).toEqual(["+WPI"]);
    log.create("gate");
    await expect(call).resolves.toBe("x");
  });
});
