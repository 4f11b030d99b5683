// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect } from "@nats-io/transport-node";
import { move } from "clearway";
import { callback, proxy } from "clearway/callback";
import { describe, expect, onTestFinished, test } from "vitest";
import { hashOf } from "../../src/request/members.js";
import { encodeCall } from "../../src/wire/call.js";
import { Op, subjectsOf } from "../../src/wire/protocol.js";
import fc from "../fixtures/fast-check.js";
import { notCalledByLanguage } from "../fixtures/not-called.js";
import { noServer } from "../server/nats-server.js";
import { codec, newModule, oneServer, open, pair, peer, serve, until } from "./ends.js";

describe.skipIf(noServer)("a call in request mode", () => {
  const nats = oneServer();

  test("a call returns the task's result", async () => {
    const { pool } = await pair(nats.url);
    expect(await pool.call.add(1, 2)).toBe(3);
    expect(await pool.call.add(3, 4)).toBe(7);
    expect(pool.stats()).toMatchObject({ open: 0, tasks: { add: { calls: 2, ok: 2, failed: 0, cancelled: 0 } } });
  });

  test("values keep their types and their content", async () => {
    const { pool } = await pair(nats.url);
    const value = {
      text: "ä😀",
      list: [1, 2.5, -1, true, null],
      big: 2n ** 70n,
      bytes: new Uint8Array([1, 2, 3]),
      floats: new Float64Array([0.5, Number.NaN]),
      map: new Map([[1, "one"]]),
    };
    expect(await pool.call.echo(value)).toEqual(value);
    expect(await pool.call.nothing()).toBe(null);
  });

  test("an error keeps its class, code, properties, cause and stack, and shows the caller's frames", async () => {
    const { pool } = await pair(nats.url);
    await pool.call.add(1, 1);
    const callsFail = async (): Promise<unknown> => await pool.call.fail();
    const error = (await callsFail().catch((reason: unknown) => reason)) as RangeError & { amount: number };
    expect(error).toBeInstanceOf(RangeError);
    expect(error).toMatchObject({
      name: "PaymentError",
      code: "declined",
      amount: 12,
      message: "the card was declined",
    });
    expect((error.cause as Error).message).toBe("no funds");
    expect(error.stack).toContain("sample.tasks");
    expect(error.stack).toContain("callsFail");
  });

  test("a call of a task that does not exist fails with unknown-task", async () => {
    const { pool } = await pair(nats.url);
    const call = (pool.call as unknown as Record<string, () => Promise<unknown>>)["missing"]!;
    await expect(call()).rejects.toMatchObject({ code: "unknown-task", message: expect.stringContaining("add, echo") });
  });

  test("a callback as an argument of a remote call is refused with invalid-argument, and no task runs", async () => {
    const { pool, server } = await pair(nats.url);
    const sum = pool.call.add as (...args: unknown[]) => Promise<unknown>;
    for (const marked of [callback(() => 1), proxy({ ask: () => 1 })])
      await expect(sum(1, marked)).rejects.toMatchObject({
        code: "invalid-argument",
        message: expect.stringContaining("args[1] must be a value or a stream"),
      });
    expect(server.stats()).toMatchObject({ request: { calls: 0 } });
  });

  test("a call is not made by an await of the functions, nor by a logger that writes them as JSON or text", async () => {
    const { pool } = await pair(nats.url);
    await notCalledByLanguage([pool.call, pool.with({ deadlineMs: 60_000 }).call]);
    expect(pool.stats().tasks).toEqual({});
  });

  test("a value that the codec has no form for fails its call, as an argument and as a result", async () => {
    const { pool } = await pair(nats.url);
    await expect(pool.call.echo(new Date(0))).rejects.toMatchObject({ code: "not-encodable" });
    await expect(pool.call.unencodable()).rejects.toMatchObject({ code: "not-encodable" });
    expect(await pool.call.add(1, 1)).toBe(2);
  });

  test("a call fails with no-worker when no worker serves the module", async () => {
    const pool = await open({ servers: nats.url, module: newModule() });
    await expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "no-worker" });
    await expect(pool.with({ key: "a" }).call.add(1, 2)).rejects.toMatchObject({ code: "no-worker" });
    expect(pool.stats().open).toBe(0);
  });

  test("a call fails with wrong-version and names the versions when workers have other ones", async () => {
    const module = newModule();
    await serve({ servers: nats.url, module, version: "1.1.0" });
    await serve({ servers: nats.url, module, version: "2.0.0" });
    const pool = await open({ servers: nats.url, module, version: "1.2.0" });
    await expect(pool.call.add(1, 2)).rejects.toMatchObject({
      code: "wrong-version",
      message: expect.stringMatching(/1\.1\.0|2\.0\.0/),
    });
  });

  test("a call rejects with the reason of its signal at once, and its task's signal aborts", async () => {
    const { pool } = await pair(nats.url);
    const controller = new AbortController();
    let started: () => void = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const call = pool.with({ signal: controller.signal, onProgress: () => started() }).call.noteCancelled();
    await running;
    const reason = new Error("changed my mind");
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await until(async () => (await pool.call.notes()).includes("cancelled"));
    expect(pool.stats().tasks["noteCancelled"]).toMatchObject({ calls: 1, cancelled: 1 });
  });

  test("a call with an aborted signal rejects with its reason and is not sent", async () => {
    const { pool } = await pair(nats.url);
    await expect(pool.with({ signal: AbortSignal.abort("no") }).call.add(1, 2)).rejects.toBe("no");
    expect(pool.stats().open).toBe(0);
  });

  test("a call fails with deadline when it takes longer than deadlineMs, and its task's signal aborts", async () => {
    const { pool } = await pair(nats.url);
    await pool.call.add(1, 1);
    await expect(pool.with({ deadlineMs: 50 }).call.noteCancelled()).rejects.toMatchObject({ code: "deadline" });
    await until(async () => (await pool.call.notes()).length > 0);
  });

  test("a call fails with timeout when its task runs longer than timeoutMs", async () => {
    const { pool } = await pair(nats.url);
    await expect(pool.with({ timeoutMs: 20 }).call.untilCancelled()).rejects.toMatchObject({ code: "timeout" });
  });

  test("progress arrives in order and before the result", async () => {
    const { pool } = await pair(nats.url);
    const seen: unknown[] = [];
    const result = await pool.with({ onProgress: (value) => seen.push(value) }).call.report(100);
    expect(result).toBe(100);
    expect(seen).toEqual(Array.from({ length: 100 }, (_, at) => at));
  });

  test("a call fails with the listener's error when onProgress throws", async () => {
    const { pool } = await pair(nats.url);
    const mine = new Error("mine");
    const call = pool
      .with({
        onProgress: () => {
          throw mine;
        },
      })
      .call.report(3);
    await expect(call).rejects.toBe(mine);
  });

  test("a call fails with the listener's error when onProgress rejects", async () => {
    const { pool } = await pair(nats.url);
    const mine = new Error("mine");
    await expect(pool.with({ onProgress: () => Promise.reject(mine) }).call.noteCancelled()).rejects.toBe(mine);
  });

  test("a call fails when the codec has no form for a value of its progress", async () => {
    const { pool } = await pair(nats.url);
    const call = pool.with({ onProgress: () => {} }).call.progressOfFunction();
    await expect(call).rejects.toMatchObject({ code: "not-encodable" });
  });

  test.each([1_000, 900_000, 1_048_576, 5_000_000])("%i bytes cross in both directions", async (bytes) => {
    const { pool, server } = await pair(nats.url);
    expect(await pool.call.byteLength(new Uint8Array(bytes))).toBe(bytes);
    expect(await pool.with({ key: "a" }).call.byteLength(new Uint8Array(bytes))).toBe(bytes);
    expect((await pool.call.zeros(bytes)).length).toBe(bytes);
    const content = new Uint8Array(bytes).map((_, at) => at * 7);
    expect(Buffer.compare((await pool.call.echo(content)) as Uint8Array, content)).toBe(0);
    expect(Buffer.compare((await pool.call.echo(move(content.slice()))) as Uint8Array, content)).toBe(0);
    await until(() => server.stats().request!.open === 0);
    expect(server.stats().request!.bytes).toBe(0);
  });

  test("a result that is larger than the caller's limit fails with too-large", async () => {
    const { pool } = await pair(nats.url, {}, { limits: { messageBytesMax: 2_000_000 } });
    await expect(pool.call.zeros(3_000_000)).rejects.toMatchObject({ code: "too-large" });
    expect((await pool.call.zeros(1_500_000)).length).toBe(1_500_000);
  });

  test("arguments and results that are larger than the worker's limit fail with too-large", async () => {
    const { pool, server } = await pair(nats.url, { limits: { messageBytesMax: 2_000_000 } });
    await expect(pool.call.byteLength(new Uint8Array(3_000_000))).rejects.toMatchObject({ code: "too-large" });
    await expect(pool.call.zeros(3_000_000)).rejects.toMatchObject({ code: "too-large" });
    expect(server.stats().request).toMatchObject({ open: 0, bytes: 0 });
  });

  test("calls with the same key run in the same worker process, one after the other", async () => {
    const module = newModule();
    const options = { servers: nats.url, module, pool: { size: 2, concurrency: 4 } };
    const servers = [await serve(options), await serve(options), await serve(options)];
    const pool = await open({ servers: nats.url, module });
    for (const key of ["a", "b", "c", 4]) {
      const keyed = pool.with({ key });
      const calls = await Promise.all(Array.from({ length: 20 }, () => keyed.call.where()));
      expect(new Set(calls).size).toBe(1);
    }
    expect(pool.stats().workers).toBe(3);
    expect(servers.reduce((sum, each) => sum + each.stats().request!.calls, 0)).toBe(80);
  });

  test("the calls of a key go to another worker process when theirs closes", async () => {
    const module = newModule();
    const servers = [await serve({ servers: nats.url, module }), await serve({ servers: nats.url, module })];
    const pool = await open({ servers: nats.url, module });
    const keyed = pool.with({ key: "a" });
    expect(await keyed.call.add(1, 2)).toBe(3);
    const [mine, other] = servers[0]!.stats().request!.calls === 1 ? servers : servers.toReversed();
    await mine!.close();
    expect(await keyed.call.add(2, 3)).toBe(5);
    expect(other!.stats().request!.calls).toBe(1);
  });

  test("a call with a key that reaches a worker process while it closes runs, or is refused at once", async () => {
    const module = newModule();
    const connection = await connect({ servers: nats.url });
    onTestFinished(() => connection.close());
    const server = await serve({ connection, module });
    const stranger = await peer(nats.url);
    const { worker } = subjectsOf(module, "0");
    const mine = worker(server.stats().workerId);
    const flush = connection.flush.bind(connection);
    let flushes = 0;
    connection.flush = async () => {
      // The process has found no open call after its first round trip.
      if (++flushes === 2) {
        stranger.send(mine, encodeCall(codec, { task: "add", args: [1, 2], options: { key: "a" } }), "late");
        await stranger.connection.flush();
      }
      await flush();
    };
    await server.close();
    const { data, headers } = await stranger.next("late");
    if (headers?.code !== 503) expect(codec.decode(data)).toEqual([Op.result, 3]);
  });

  test("calls are spread over the worker processes", async () => {
    const module = newModule();
    const servers = [await serve({ servers: nats.url, module }), await serve({ servers: nats.url, module })];
    const pool = await open({ servers: nats.url, module });
    await Promise.all(Array.from({ length: 200 }, (_, at) => pool.call.add(at, 1)));
    for (const each of servers) expect(each.stats().request!.calls).toBeGreaterThan(0);
  });

  test("calls of higher priority run first in their worker process", async () => {
    const { pool } = await pair(nats.url, { pool: { size: 1, concurrency: 1 } });
    const order: string[] = [];
    const busy = new AbortController();
    const blocked = pool.with({ signal: busy.signal }).call.untilCancelled();
    const low = pool
      .with({ priority: -1 })
      .call.echo("low")
      .then(() => order.push("low"));
    const high = pool
      .with({ priority: 1 })
      .call.echo("high")
      .then(() => order.push("high"));
    await pool
      .with({ priority: 2, deadlineMs: 1 })
      .call.add(1, 1)
      .catch(() => {});
    busy.abort("done");
    await expect(blocked).rejects.toBe("done");
    await Promise.all([low, high]);
    expect(order).toEqual(["high", "low"]);
  });

  test("a call above the worker process's limit fails with queue-full", async () => {
    const { pool, server } = await pair(nats.url, { limits: { callsMax: 1 } });
    const controller = new AbortController();
    const first = pool.with({ signal: controller.signal }).call.untilCancelled();
    await expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "queue-full" });
    expect(server.stats().request!.refused).toBe(1);
    controller.abort("end");
    await expect(first).rejects.toBe("end");
  });

  test("a call above the pool's own limit fails with queue-full", async () => {
    const { pool } = await pair(nats.url, {}, { limits: { callsMax: 2 } });
    const calls = [pool.call.untilCancelled(), pool.call.untilCancelled(), pool.call.add(1, 2)];
    await expect(calls[2]).rejects.toMatchObject({ code: "queue-full" });
    const ends = expect(Promise.all(calls.slice(0, 2))).rejects.toMatchObject({ code: "pool-terminated" });
    await pool.terminate();
    await ends;
  });

  test("a call whose thread ends fails with worker-exited, and the worker process goes on", async () => {
    const { pool } = await pair(nats.url);
    await expect(pool.call.exit()).rejects.toMatchObject({ code: "worker-exited" });
    expect(await pool.call.add(1, 2)).toBe(3);
  });

  test("close() waits for open calls, and later calls fail with pool-closed", async () => {
    const { pool } = await pair(nats.url);
    const call = pool.call.add(1, 2);
    await pool.close();
    expect(await call).toBe(3);
    await expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "pool-closed" });
  });

  test("close() fails the calls that take longer than its timeout with pool-closed", async () => {
    const { pool } = await pair(nats.url);
    const call = pool.call.untilCancelled();
    const failed = expect(call).rejects.toMatchObject({ code: "pool-closed" });
    await pool.close({ timeoutMs: 10 });
    await failed;
  });

  test("a close() with a limit of time ends an earlier close() of a remote pool", async () => {
    const { pool } = await pair(nats.url);
    const failed = expect(pool.call.untilCancelled()).rejects.toMatchObject({ code: "pool-closed" });
    const closed = pool.close({ timeoutMs: Number.POSITIVE_INFINITY });
    await pool.close({ timeoutMs: 1 });
    await failed;
    await closed;
  });

  test("a worker process that closes finishes its calls", async () => {
    const { pool, server } = await pair(nats.url);
    await pool.call.add(1, 1);
    const calls = Array.from({ length: 50 }, (_, at) => pool.call.add(at, 1));
    const results = Promise.allSettled(calls);
    await until(() => server.stats().request!.calls > 1);
    await server.close();
    for (const each of await results)
      expect(each.status === "fulfilled" || (each.reason as { code: string }).code === "no-worker").toBe(true);
    await expect(pool.call.add(1, 2)).rejects.toMatchObject({ code: "no-worker" });
  });

  test("advise() judges the tasks by the runs of all worker processes", async () => {
    const { pool } = await pair(nats.url);
    await Promise.all(Array.from({ length: 40 }, (_, at) => pool.call.add(at, 1)));
    const { tasks, text } = await pool.advise();
    const add = tasks.find(({ task }) => task === "add")!;
    expect(add).toMatchObject({ calls: 40, better: "local" });
    expect(add.networkUs).toBeGreaterThan(0);
    expect(text).toContain("add() takes");
  });

  test("advise() says so when no worker process is there", async () => {
    const pool = await open({ servers: nats.url, module: newModule() });
    expect(await pool.advise()).toMatchObject({ tasks: [], notes: [expect.stringContaining("no worker process")] });
  });
});

const pick = (key: string, ids: readonly string[]): string =>
  ids.reduce((best, id) => (hashOf(key, id) > hashOf(key, best) ? id : best));

const workers = fc.uniqueArray(fc.string({ minLength: 22, maxLength: 22 }), { minLength: 2, maxLength: 20 });

test("only the keys of a worker that ends move to other workers", () => {
  fc.assert(
    fc.property(workers, fc.array(fc.string(), { maxLength: 50 }), (ids, keys) => {
      const [gone, ...rest] = ids;
      for (const key of keys) if (pick(key, ids) !== gone) expect(pick(key, rest)).toBe(pick(key, ids));
    }),
  );
});

test("keys are spread over the workers", () => {
  const ids = ["worker-1", "worker-2", "worker-3", "worker-4"];
  const counts = new Map<string, number>();
  for (let key = 0; key < 10_000; key++) {
    const id = pick(`user-${key}`, ids);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  for (const id of ids) expect(counts.get(id)).toBeGreaterThan(2_250);
});
