// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, onTestFinished, test } from "vitest";
import { timers } from "../../src/clock.js";
import { namesOf } from "../../src/durable/names.js";
import { caller, connection, type Ends, logFile, serve } from "../durable/harness.js";
import { freePort, noServer, startServer } from "../server/nats-server.js";
import { startProxy } from "../server/proxy.js";

const names = namesOf("work", "0");

/** A server, a worker process and a caller, each with its own connection. */
async function ends({ serve: served, call, ...rest }: Ends = {}) {
  const server = await startServer({ port: await freePort() });
  const worker = await serve(await connection(server.url), { ...rest, serve: { ackWaitMs: 1_000, ...served } });
  const work = await caller(await connection(server.url), { ...rest, call: { resendMs: 200, ...call } });
  const wiped = async (jetstream = true): Promise<void> => {
    await server.kill();
    server.wipe({ jetstream });
    await server.start();
  };
  return { server, worker, work, wiped };
}

const lost = { name: "ClearwayError", code: "storage-lost" };

describe.skipIf(noServer)("when the servers have lost the streams of a module", () => {
  test("later calls run, in every way", async () => {
    const log = logFile();
    const { work, worker, wiped } = await ends({ call: { objectBytesMin: 1_000 }, idempotent: ["add", "lengthOf"] });
    await expect(work.call.lengthOf(new Uint8Array(2_000))).resolves.toBe(2_000);
    for (let round = 0; round < 2; round++) {
      await wiped();
      await expect(work.call.add(1, 2)).resolves.toBe(3);
      await expect(work.with({ key: "k" }).call.effect(log.path, `keyed ${round}`)).resolves.toBe(`keyed ${round}`);
      await expect(work.with({ priority: 1 }).call.add(1, 3)).resolves.toBe(4);
      await expect(work.call.lengthOf(new Uint8Array(2_000))).resolves.toBe(2_000);
      // The id is new to the servers, and so is its place in the queue.
      await expect(work.result(await work.submit("add", [2, 2], { id: "same" }))).resolves.toBe(4);
    }
    expect(log.lines()).toEqual(["keyed 0", "keyed 1"]);
    expect(worker.errors).toMatchObject([lost, lost]);
    expect(work.errors).toMatchObject([lost, lost]);
  });

  test("later calls run although only a caller noticed it first, with the partitions of the lost queue", async () => {
    const { server, work, wiped } = await ends({ serve: { partitions: 5 } });
    await wiped();
    await expect.poll(() => work.errors).toMatchObject([lost]);
    const manager = await jetstreamManager(await connection(server.url));
    expect((await manager.streams.info(names.calls)).config.description).toMatch(/partitions: 5$/);
    const keys = Array.from({ length: 20 }, (_, n) => work.with({ key: `k${n}` }).call.add(n, 1));
    await expect(Promise.all(keys)).resolves.toHaveLength(20);
  });

  test("a stored call and a wait for an outcome fail at once, and what runs does not confirm another call", async () => {
    const log = logFile();
    const { work, worker, wiped } = await ends({ pool: { size: 1 } });
    const running = work.call.held(log.path, "old", log.beside("gate"));
    const result = work.result("never");
    const refused = Promise.all([
      expect(running).rejects.toMatchObject(lost),
      expect(result).rejects.toMatchObject(lost),
    ]);
    await log.until((lines) => lines.includes("begun old"));
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    await wiped();
    await refused;
    // It has the same place in the new queue. The old call ends while it waits for the thread.
    const next = work.call.held(log.path, "new", log.beside("gate"));
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    log.create("gate");
    await expect(next).resolves.toBe("new");
    await expect.poll(() => worker.stats().open).toBe(0);
    expect(work.stats().unexpected).toBe(1);
  });

  test("calls fail at once when the streams cannot be made again, and run when they can", async () => {
    const { work, worker, wiped, server } = await ends();
    await wiped(false);
    await expect.poll(() => work.errors).toMatchObject([{ code: "connect-failed" }]);
    await expect(work.call.add(1, 2)).rejects.toMatchObject({ name: "ClearwayError", code: "connect-failed" });
    await expect(work.submit("add", [1, 2])).rejects.toMatchObject({ name: "ClearwayError", code: "connect-failed" });
    await expect.poll(() => worker.errors).toMatchObject([{ code: "connect-failed" }]);
    await server.kill();
    server.wipe();
    await server.start();
    await expect.poll(() => work.call.add(1, 2).catch(() => undefined)).toBe(3);
  });

  test.each([names.calls, names.results, `KV_${names.claims}`, `OBJ_${names.values}`])(
    "later calls run although the connection has stayed (%s)",
    async (stream) => {
      const log = logFile();
      const { server, work } = await ends({ call: { objectBytesMin: 1_000 }, idempotent: ["add", "lengthOf"] });
      await expect(work.call.lengthOf(new Uint8Array(2_000))).resolves.toBe(2_000);
      const manager = await jetstreamManager(await connection(server.url));
      await manager.streams.delete(stream);
      // The outcome of a call that was made before the loss was noticed may be lost.
      if (stream === names.results) await expect.poll(() => work.errors).toMatchObject([lost]);
      await expect(work.call.effect(log.path, "once")).resolves.toBe("once");
      await expect(work.call.lengthOf(new Uint8Array(2_000))).resolves.toBe(2_000);
      await expect(work.result(await work.submit("add", [2, 2]))).resolves.toBe(4);
      expect(log.lines()).toEqual(["once"]);
    },
  );

  test("open calls fail although only the queue is gone, and nothing tells their caller", async () => {
    const { setInterval } = timers;
    onTestFinished(() => void Object.assign(timers, { setInterval }));
    // A caller looks every ten seconds.
    Object.assign(timers, { setInterval: (act: () => void) => setInterval(act, 50) });
    const nats = await connection((await startServer()).url);
    const work = await caller(nats);
    const open = [work.call.add(1, 2), work.result(await work.submit("add", [1, 2]))];
    const refused = Promise.all(open.map((each) => expect(each).rejects.toMatchObject(lost)));
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    await (await jetstreamManager(nats)).streams.delete(names.calls);
    await refused;
  });

  test("later calls run although only the consumers are gone", async () => {
    const { server, work } = await ends();
    const manager = await jetstreamManager(await connection(server.url));
    for await (const { name } of manager.consumers.list(names.calls)) await manager.consumers.delete(names.calls, name);
    await expect(work.call.add(1, 2)).resolves.toBe(3);
    await expect(work.with({ key: 1 }).call.add(1, 2)).resolves.toBe(3);
  });

  test("a call that was claimed meanwhile and has not begun leaves its id to a later call", async () => {
    const log = logFile();
    const server = await startServer({ port: await freePort() });
    const proxy = await startProxy(server.port);
    const worker = await serve(await connection(proxy.url), { serve: { ackWaitMs: 1_000 } });
    const work = await caller(await connection(server.url), { call: { resendMs: 200 } });
    // The call reaches the worker process, and its claim does not reach the server.
    proxy.stallWriter();
    await work.submit("effect", [log.path, "once"], { id: "same" });
    await expect.poll(() => worker.stats().received).toBe(1);
    proxy.cut();
    await server.kill();
    server.wipe({ jetstream: true });
    await server.start();
    proxy.mend();
    await expect.poll(() => worker.stats().givenBack).toBe(1);
    await work.submit("effect", [log.path, "once"], { id: "same" });
    await expect(work.result("same")).resolves.toBe("once");
    expect(log.lines()).toEqual(["once"]);
  });

  test("the claims are stored where the calls are", async () => {
    const server = await startServer();
    const nats = await connection(server.url);
    await caller(nats, { call: { storage: "memory" } });
    await serve(nats, { serve: { storage: "file" } });
    const manager = await jetstreamManager(nats);
    expect((await manager.streams.info(`KV_${names.claims}`)).config.storage).toBe("memory");
  });
});
