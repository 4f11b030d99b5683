// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstreamManager, RetentionPolicy } from "@nats-io/jetstream";
import { nkeyAuthenticator, nkeys } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { writeOutcome } from "../../src/durable/layout.js";
import { namesOf } from "../../src/durable/names.js";
import { callerSettingsOf } from "../../src/durable/options.js";
import { ensureStreams } from "../../src/durable/streams.js";
import { encodeResult, wireCodec } from "../../src/wire/call.js";
import { useFakeTimers, useRealTimers } from "../fixtures/clocks.js";
import { noServer, startServer } from "../server/nats-server.js";
import { caller, connection, logFile, serve } from "./harness.js";

const names = namesOf("work", "0");

describe.skipIf(noServer)("opening durable mode", () => {
  test("fails with connect-failed when the servers have no JetStream", async () => {
    const server = await startServer({ jetstream: false });
    const nats = await connection(server.url);
    await expect(caller(nats)).rejects.toMatchObject({ code: "connect-failed" });
    await expect(serve(nats)).rejects.toMatchObject({ code: "connect-failed" });
  });

  test("fails with connect-failed when the user may not use JetStream", async () => {
    const user = nkeys.createUser();
    const access = { users: [{ nkey: user.getPublicKey(), publish: ["other.>"], subscribe: ["_INBOX.>"] }] };
    const server = await startServer({ access });
    const nats = await connection(server.url, { authenticator: nkeyAuthenticator(user.getSeed()) });
    await expect(caller(nats)).rejects.toMatchObject({ code: "connect-failed" });
  });

  test("works with an NKEY user who may use JetStream", async () => {
    const user = nkeys.createUser();
    const server = await startServer({ access: { users: [{ nkey: user.getPublicKey() }] } });
    const nats = await connection(server.url, { authenticator: nkeyAuthenticator(user.getSeed()) });
    await serve(nats);
    const work = await caller(nats);
    await expect(work.call.add(1, 2)).resolves.toBe(3);
  });

  test("works with users who have only the permissions of docs/durable.md", async () => {
    const [callerUser, workerUser] = [nkeys.createUser(), nkeys.createUser()];
    const values = "$O.clearway_work_0_values.>";
    const access = {
      users: [
        {
          nkey: callerUser.getPublicKey(),
          publish: ["clearway.work.0.do.>", "clearway.work.0.drop", "$JS.API.>", "$JS.FC.>", values],
          subscribe: ["_INBOX.>", "clearway.work.0.result.*"],
        },
        {
          nkey: workerUser.getPublicKey(),
          publish: ["clearway.work.0.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "$KV.clearway_work_0_claims.>", values],
          subscribe: ["_INBOX.>", "clearway.work.0.drop"],
        },
      ],
    };
    const log = logFile();
    const { url } = await startServer({ access });
    await serve(await connection(url, { authenticator: nkeyAuthenticator(workerUser.getSeed()) }));
    const work = await caller(await connection(url, { authenticator: nkeyAuthenticator(callerUser.getSeed()) }));
    await expect(work.call.add(1, 2)).resolves.toBe(3);
    await expect(work.call.effect(log.path, "x")).resolves.toBe("x");
    await expect(work.call.lengthOf(new Uint8Array(3_000_000))).resolves.toBe(3_000_000);
    await expect(work.call.bytes(1_000_000)).resolves.toHaveLength(1_000_000);
    await expect(work.result(await work.submit("add", [3, 4]))).resolves.toBe(7);
    await work.close();
  });

  test("fails when a stream of that name is no work queue", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const manager = await jetstreamManager(nats);
    await manager.streams.add({ name: names.calls, subjects: ["other"], retention: RetentionPolicy.Limits });
    await expect(caller(nats)).rejects.toMatchObject({
      code: "connect-failed",
      message: /durable mode needs workqueue/,
    });
  });

  test("fails when a stream of that name, or one with its subjects, is of another module or version", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const manager = await jetstreamManager(nats);
    await manager.streams.add({ name: names.calls, subjects: ["other"], retention: RetentionPolicy.Workqueue });
    await expect(caller(nats)).rejects.toMatchObject({
      code: "connect-failed",
      message: /of another module or version/,
    });
    await manager.streams.add({ name: "older", subjects: [namesOf("work", "1").callSubjects] });
    await expect(caller(nats, { version: "1" })).rejects.toMatchObject({
      code: "connect-failed",
      message: /the subjects clearway\.work\.1\.do\.> of the stream CLEARWAY_work_1_calls belong to another stream/,
    });
  });

  test("keeps the options of streams that exist", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await caller(nats, { call: { storage: "memory", queue: { items: 1 } } });
    const work = await caller(nats, { call: { storage: "file" } });
    await work.submit("add", [1, 1]);
    await expect(work.submit("add", [1, 1])).rejects.toMatchObject({ code: "queue-full" });
    await expect(work.call.add(1, 1)).rejects.toMatchObject({ code: "queue-full" });
  });
});

describe.skipIf(noServer)("the number of partitions", () => {
  test("is that of the process that has created the queue, so that no call waits in a partition without a worker", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats, { call: { partitions: 40 } });
    const other = await caller(nats, { call: { partitions: 3 } });
    await serve(nats, { serve: { partitions: 2 } });
    const keys = Array.from({ length: 100 }, (_, n) => `key-${n}`);
    const sums = await Promise.all(keys.map((key, n) => (n % 2 ? work : other).with({ key }).call.add(n, 1)));
    expect(sums).toEqual(keys.map((_, n) => n + 1));
  });
});

describe.skipIf(noServer)("the time in which the servers know an id", () => {
  test("is that of the process that has created the queue", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const manager = await jetstreamManager(nats);
    await ensureStreams(manager, names, callerSettingsOf({ dedupMs: 10_000 }));
    const { settings } = await ensureStreams(manager, names, callerSettingsOf({}));
    expect(settings.dedupMs).toBe(10_000);
  });
});

describe.skipIf(noServer)("ending durable mode", () => {
  test("by close() of the pool waits for the open calls", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await serve(nats);
    const work = await caller(nats);
    const sums = Promise.all([work.call.add(1, 1), work.call.add(2, 2)]);
    await work.close();
    await expect(sums).resolves.toEqual([2, 4]);
    await expect(work.call.add(1, 1)).rejects.toMatchObject({ code: "pool-closed" });
    await expect(work.submit("add", [1, 1])).rejects.toMatchObject({ code: "pool-closed" });
  });

  test("by close() of the pool rejects calls that are late, and they still run", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const call = work.call.effect(log.path, "ran");
    const rejected = expect(call).rejects.toMatchObject({ code: "pool-closed" });
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    await work.close({ timeoutMs: 0 });
    await rejected;
    await serve(nats);
    await log.until((lines) => lines.includes("ran"));
  });

  test("by a close() with a limit of time ends an earlier close() of the pool", async () => {
    const work = await caller(await connection((await startServer()).url));
    const rejected = expect(work.call.add(1, 1)).rejects.toMatchObject({ code: "pool-closed" });
    const closed = work.close({ timeoutMs: Number.POSITIVE_INFINITY });
    await work.close({ timeoutMs: 1 });
    await rejected;
    await closed;
  });

  test("by terminate() rejects the open calls at once", async () => {
    const server = await startServer();
    const work = await caller(await connection(server.url));
    const rejected = expect(work.call.add(1, 1)).rejects.toMatchObject({ code: "pool-terminated" });
    await work.terminate();
    await rejected;
    await work.terminate();
    await work.close();
  });

  test("by a closed connection rejects the open calls", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const rejected = expect(work.call.add(1, 1)).rejects.toMatchObject({ code: "transport-closed" });
    await nats.close();
    await rejected;
  });

  test("by close() of a worker process leaves a call that has not begun to another process, also if it may run only once", async () => {
    const log = logFile();
    // No call waits for too long in this process, so it gives none back before it closes.
    useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void useRealTimers());
    const server = await startServer();
    const worker = await serve(await connection(server.url), { pool: { size: 1 } });
    const work = await caller(await connection(server.url));
    const first = work.call.held(log.path, "first", log.beside("gate"));
    await log.until((lines) => lines.includes("begun first"));
    // The process has asked for calls of every priority while its thread was free.
    const second = work.with({ priority: 1 }).call.effect(log.path, "second");
    await expect.poll(() => worker.stats().received).toBe(2);
    await worker.close(0);
    await serve(await connection(server.url));
    await expect(second).resolves.toBe("second");
    log.create("gate");
    await expect(first).resolves.toBe("first");
  });

  test.each([60_000, 2 ** 31, Number.POSITIVE_INFINITY])(
    "by close() of a worker process ends the received calls and leaves the others to another process (%d)",
    async (timeoutMs) => {
      const log = logFile();
      const server = await startServer();
      const nats = await connection(server.url);
      const worker = await serve(nats, { pool: { size: 1 } });
      const work = await caller(nats);
      const first = work.call.held(log.path, "first", log.beside("gate"));
      await log.until((lines) => lines.includes("begun first"));
      const closed = worker.close(timeoutMs);
      const later = work.call.add(1, 1);
      const second = await serve(await connection(server.url));
      await expect(later).resolves.toBe(2);
      log.create("gate");
      await closed;
      await expect(first).resolves.toBe("first");
      expect(second.stats()).toMatchObject({ answered: 1 });
    },
  );
});

describe.skipIf(noServer)("bad input", () => {
  test("that is no call goes to the dead-letter stream and does not stop the worker", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const worker = await serve(nats);
    const work = await caller(nats);
    nats.publish(names.plain("normal"), "no call");
    nats.publish(names.plain("high"), new Uint8Array(0));
    await expect(work.call.add(1, 1)).resolves.toBe(2);
    await expect.poll(() => worker.stats().malformed).toBe(2);
    const manager = await jetstreamManager(nats);
    await expect.poll(async () => (await manager.streams.info(names.dead)).state.messages).toBe(2);
    await expect.poll(async () => (await manager.streams.info(names.calls)).state.messages).toBe(0);
    expect(worker.errors).toMatchObject([{ code: "protocol" }, { code: "protocol" }]);
  });

  test("in the caller's results is counted and does not stop it", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await serve(nats);
    const work = await caller(nats);
    const manager = await jetstreamManager(nats);
    const [subject] = await new Promise<string[]>((resolve) => {
      nats.subscribe(names.replySubjects, { max: 1, callback: (_error, message) => resolve([message.subject]) });
      void work.call.add(1, 1);
    });
    nats.publish(subject!, "no outcome");
    const content = { bytes: encodeResult(wireCodec(), 1) };
    nats.publish(subject!, writeOutcome({ id: "nobody-waits", content }));
    await expect.poll(() => work.stats()).toMatchObject({ malformed: 1, unexpected: 1 });
    await expect(work.call.add(1, 1)).resolves.toBe(2);
    expect(work.errors).toMatchObject([{ code: "protocol" }]);
    expect((await manager.streams.info(names.results)).state.last_seq).toBeGreaterThan(2);
  });

  test("in an outcome fails its call with a typed error", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    nats.publish(names.result("x"), writeOutcome({ id: "x", content: { bytes: Uint8Array.of(250, 1) } }));
    nats.publish(names.result("y"), new Uint8Array(0));
    await expect(work.result("x")).rejects.toMatchObject({ name: "ClearwayError" });
    await expect(work.result("y")).rejects.toMatchObject({ code: "protocol" });
  });
});
