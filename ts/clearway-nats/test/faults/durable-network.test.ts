// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { writeCall } from "../../src/durable/layout.js";
import { namesOf } from "../../src/durable/names.js";
import { encodeCall, wireCodec } from "../../src/wire/call.js";
import { caller, connection, logFile, serve } from "../durable/harness.js";
import { freePort, noServer, startCluster, startServer } from "../server/nats-server.js";
import { startProxy } from "../server/proxy.js";
import { startWorker } from "./worker-process.js";

// A client that finds out quickly that its connection is dead.
const watchful = { pingInterval: 100, maxPingOut: 2 };
const names = namesOf("work", "0");

/** Returns how often each line of a log occurs. */
function counts(lines: readonly string[]): Map<string, number> {
  const all = new Map<string, number>();
  for (const line of lines) all.set(line, (all.get(line) ?? 0) + 1);
  return all;
}

describe.skipIf(noServer)("durable calls, when the servers restart", () => {
  test.each(["kill", "stop"] as const)("are all answered, and each has at most one effect (%s)", async (end) => {
    const log = logFile();
    const server = await startServer({ port: await freePort() });
    await serve(await connection(server.url), { serve: { ackWaitMs: 1_000 } });
    const work = await caller(await connection(server.url), { call: { resendMs: 500 } });
    let restarted: Promise<void> | undefined;
    const restart = async (): Promise<void> => {
      await server[end]();
      await server.start();
    };
    let settled = 0;
    const one = async (n: number): Promise<unknown> => {
      try {
        return n % 2 === 0 ? await work.call.add(n, 1) : await work.call.effect(log.path, String(n));
      } catch (reason) {
        return (reason as { code: string }).code;
      } finally {
        if (++settled === 50) restarted = restart();
      }
    };
    const before = Array.from({ length: 300 }, (_, n) => one(n));
    await expect.poll(() => settled).toBeGreaterThanOrEqual(50);
    // Calls that are made while no server is there.
    const during = Array.from({ length: 50 }, (_, n) => one(300 + n));
    const outcomes = await Promise.all([...before, ...during]);
    await restarted;
    const effects = counts(log.lines());
    for (const [n, outcome] of outcomes.entries()) {
      if (n % 2 === 0) expect(outcome).toBe(n + 1);
      else {
        expect([String(n), "interrupted"]).toContain(outcome);
        expect(effects.get(String(n)) ?? 0).toBeLessThanOrEqual(1);
      }
    }
  });

  test("run in every partition of keys when the servers were killed", async () => {
    const server = await startServer({ port: await freePort() });
    for (let each = 0; each < 2; each++) await serve(await connection(server.url), { serve: { ackWaitMs: 1_000 } });
    const work = await caller(await connection(server.url), { call: { resendMs: 500 } });
    for (let round = 0; round < 3; round++) {
      let settled = 0;
      const sums = Array.from({ length: 500 }, async (_, n) => {
        const sum = await work.with({ key: `key-${n % 40}` }).call.add(n, 1);
        settled++;
        return sum;
      });
      await expect.poll(() => settled).toBeGreaterThanOrEqual(100);
      await server.kill();
      await server.start();
      await expect(Promise.all(sums)).resolves.toEqual(sums.map((_, n) => n + 1));
    }
  });

  test("keep a submitted call and a stored result", async () => {
    const server = await startServer({ port: await freePort() });
    const nats = await connection(server.url);
    const work = await caller(nats);
    await work.submit("add", [1, 2], { id: "before" });
    await server.kill();
    await server.start();
    await serve(await connection(server.url));
    await expect(work.result("before")).resolves.toBe(3);
    await server.stop();
    await server.start();
    await expect(work.result("before")).resolves.toBe(3);
  });
});

describe.skipIf(noServer)("durable calls, when the servers restart and take smaller messages than before,", () => {
  const payloadBytesMax = 2 ** 17;

  test("have their large arguments and outcomes, and run once", async () => {
    const server = await startServer({ port: await freePort() });
    const worker = await serve(await connection(server.url), { idempotent: [] });
    const work = await caller(await connection(server.url));
    await server.stop();
    await server.start(payloadBytesMax);
    // From here on, both ends are connected again.
    await expect(work.call.add(1, 2)).resolves.toBe(3);
    await expect(work.call.bytes(200_000)).resolves.toHaveLength(200_000);
    await expect(work.call.lengthOf(new Uint8Array(200_000))).resolves.toBe(200_000);
    expect(worker.stats()).toMatchObject({ received: 3, givenBack: 0 });
    expect(worker.errors).toEqual([]);
  });

  test("fail with too-large, and are not stored, if they waited for the connection", async () => {
    const server = await startServer({ port: await freePort() });
    const nats = await connection(server.url);
    const work = await caller(nats);
    const away = (async () => {
      for await (const { type } of nats.status()) if (type === "disconnect") return;
    })();
    await server.stop();
    await away;
    const made = work.submit("lengthOf", [new Uint8Array(200_000)]);
    const refused = expect(made).rejects.toMatchObject({ name: "ClearwayError", code: "too-large" });
    await server.start(payloadBytesMax);
    await refused;
  });
});

describe.skipIf(noServer)("durable calls, when a connection is cut", () => {
  test("are answered after the caller's connection is back, also those made meanwhile", async () => {
    const log = logFile();
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const worker = await serve(await connection(server.url));
    const work = await caller(await connection(proxy.url), { call: { resendMs: 200 } });
    const running = work.call.held(log.path, "x", log.beside("gate"));
    await log.until((lines) => lines.includes("begun x"));
    proxy.cut();
    log.create("gate");
    await expect.poll(() => worker.stats().answered).toBe(1);
    const made = work.call.add(1, 2);
    const attempts = proxy.accepted + 3;
    await expect.poll(() => proxy.accepted).toBeGreaterThanOrEqual(attempts);
    proxy.mend();
    await expect(Promise.all([running, made])).resolves.toEqual(["x", 3]);
  });

  test("are answered after a silence that is longer than the caller's patience", async () => {
    const server = await startServer();
    const proxy = await startProxy(server.port);
    await serve(await connection(server.url));
    const work = await caller(await connection(proxy.url, watchful), { call: { resendMs: 200 } });
    await expect(work.call.add(1, 1)).resolves.toBe(2);
    proxy.stall();
    const accepted = proxy.accepted;
    const call = work.call.add(2, 2);
    // The client has given the connection up and tries new ones.
    await expect.poll(() => proxy.accepted).toBeGreaterThan(accepted);
    proxy.resume();
    await expect(call).resolves.toBe(4);
  });

  test("run in another process when they are idempotent, and the second outcome is counted", async () => {
    const log = logFile();
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const settings = { serve: { ackWaitMs: 500 } };
    const cut = await serve(await connection(proxy.url), settings);
    const work = await caller(await connection(server.url));
    const call = work.call.held(log.path, "x", log.beside("gate"));
    await log.until((lines) => lines.length === 1);
    proxy.cut();
    await serve(await connection(server.url), settings);
    await log.until((lines) => lines.length === 2);
    log.create("gate");
    await expect(call).resolves.toBe("x");
    expect(work.stats().unexpected).toBe(0);
    proxy.mend();
    await expect.poll(() => cut.stats().answered).toBe(1);
    // The servers may deliver the call once more before they take its confirmation. It is then answered once more.
    await expect.poll(() => work.stats().unexpected).toBeGreaterThanOrEqual(1);
  });

  test("do not run again when they are not idempotent, and the late outcome is counted", async () => {
    const log = logFile();
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const settings = { serve: { ackWaitMs: 500 }, idempotent: [] };
    await serve(await connection(proxy.url), settings);
    const work = await caller(await connection(server.url));
    const call = work.call.held(log.path, "x", log.beside("gate"));
    const rejected = expect(call).rejects.toMatchObject({ code: "interrupted" });
    await log.until((lines) => lines.length === 1);
    proxy.cut();
    const other = await serve(await connection(server.url), settings);
    await rejected;
    expect(other.stats().interrupted).toBeGreaterThanOrEqual(1);
    log.create("gate");
    proxy.mend();
    // The servers may deliver the call to the other process once more before they take its confirmation. It is then answered once more.
    await expect.poll(() => work.stats().unexpected).toBeGreaterThanOrEqual(1);
    expect(log.lines()).toEqual(["begun x", "ended x"]);
  });

  test("go on in the same process when the servers deliver them again there", async () => {
    const log = logFile();
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const worker = await serve(await connection(proxy.url), { serve: { ackWaitMs: 300 }, idempotent: [] });
    const work = await caller(await connection(server.url));
    const call = work.call.held(log.path, "x", log.beside("gate"));
    await log.until((lines) => lines.length === 1);
    proxy.cut();
    const attempts = proxy.accepted + 10;
    await expect.poll(() => proxy.accepted).toBeGreaterThanOrEqual(attempts);
    proxy.mend();
    await expect.poll(() => worker.stats().duplicates).toBeGreaterThanOrEqual(1);
    log.create("gate");
    await expect(call).resolves.toBe("x");
    expect(log.lines()).toEqual(["begun x", "ended x"]);
    expect(worker.stats()).toMatchObject({ interrupted: 0, again: 0 });
  });
});

describe.skipIf(noServer)("durable calls", () => {
  test("are all answered when their caller reads too slowly for a time", async () => {
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const worker = await serve(await connection(server.url));
    const work = await caller(await connection(proxy.url), { call: { resendMs: 60_000 } });
    await work.call.add(1, 1);
    proxy.stallReader();
    const calls = Array.from({ length: 100 }, () => work.call.bytes(300_000));
    await expect.poll(() => worker.stats().answered).toBe(101);
    proxy.resume();
    const sizes = (await Promise.all(calls)).map((bytes) => (bytes as Uint8Array).length);
    expect(sizes).toEqual(Array(100).fill(300_000));
    // The servers were never ahead by so much that they cut the connection.
    expect(proxy.accepted).toBe(1);
    expect(work.stats().unexpected).toBe(0);
  });

  test("are all answered when the server cuts a caller that reads too slowly", async () => {
    const server = await startServer({ pendingBytesMax: 2 ** 21 });
    const proxy = await startProxy(server.port);
    await serve(await connection(server.url));
    const work = await caller(await connection(proxy.url, watchful), { call: { resendMs: 500 } });
    await work.call.add(1, 1);
    proxy.stallReader();
    const calls = Array.from({ length: 40 }, () => work.call.bytes(100_000));
    await expect.poll(() => proxy.accepted).toBeGreaterThan(1);
    proxy.resume();
    const sizes = (await Promise.all(calls)).map((bytes) => (bytes as Uint8Array).length);
    expect(sizes).toEqual(Array(40).fill(100_000));
  });

  test("have one effect when the servers hold the same call twice", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const work = await caller(nats);
    const codec = wireCodec();
    const body = writeCall({
      id: "twice",
      caller: "",
      callback: "",
      cancellable: false,
      content: { bytes: encodeCall(codec, { task: "effect", args: [log.path, "twice"], options: undefined }) },
    });
    // Without a message id, the servers store it twice.
    nats.publish(names.plain("normal"), body);
    nats.publish(names.plain("normal"), body);
    await nats.flush();
    const worker = await serve(nats);
    await expect(work.result("twice")).resolves.toBe("twice");
    await expect.poll(() => worker.stats()).toMatchObject({ received: 2, answered: 1, duplicates: 1 });
    expect(log.lines()).toEqual(["twice"]);
  });

  test("have one stored outcome when two processes hold the same call", async () => {
    const log = logFile();
    const server = await startServer();
    const nats = await connection(server.url);
    const options = { servers: server.url, modes: ["durable"] as const, durable: { ackWaitMs: 1_000 } };
    const work = await caller(nats);
    const first = await startWorker(options);
    const id = await work.submit("held", [log.path, "x", log.beside("gate")]);
    await log.until((lines) => lines.length === 1);
    await first.kill();
    const second = await serve(nats, { idempotent: [], serve: { ackWaitMs: 1_000 } });
    await expect(work.result(id)).rejects.toMatchObject({ code: "interrupted" });
    expect(second.stats()).toMatchObject({ interrupted: 1, repeated: 0 });
  });

  test.each([400 * 24 * 3_600_000, -400 * 24 * 3_600_000])(
    "do not depend on the clock of a worker process that is wrong by %i ms",
    async (skewMs) => {
      const log = logFile();
      const server = await startServer();
      await startWorker({ servers: server.url, modes: ["durable"], durable: { ackWaitMs: 1_000 }, skewMs });
      const work = await caller(await connection(server.url));
      const limited = work.with({ deadlineMs: 100_000, timeoutMs: 100_000 });
      await expect(limited.call.add(1, 2)).resolves.toBe(3);
      await expect(limited.call.effect(log.path, "once")).resolves.toBe("once");
      const id = await work.submit("add", [2, 2]);
      await expect(work.result(id)).resolves.toBe(4);
      expect(log.lines()).toEqual(["once"]);
    },
  );
});

describe.skipIf(noServer)("durable calls on a cluster of three servers", () => {
  test("are all answered, with at most one effect each, when the leader of their queue is killed", async () => {
    const log = logFile();
    const cluster = await startCluster();
    const replicas = { replicas: 3 } as const;
    await serve(await connection(cluster.urls), { serve: { ...replicas, ackWaitMs: 2_000 } });
    const work = await caller(await connection(cluster.urls), { call: { ...replicas, resendMs: 500 } });
    const { calls } = namesOf("work", "0");
    let settled = 0;
    let killed: Promise<void> | undefined;
    const one = async (n: number): Promise<unknown> => {
      try {
        return n % 2 === 0 ? await work.call.add(n, 1) : await work.call.effect(log.path, String(n));
      } catch (reason) {
        return (reason as { code: string }).code;
      } finally {
        if (++settled === 40) killed = cluster.leaderOf(calls).then((leader) => leader.kill());
      }
    };
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, n) => one(n)));
    await killed;
    const lines = log.lines();
    for (const [n, outcome] of outcomes.entries()) {
      if (n % 2 === 0) expect(outcome).toBe(n + 1);
      else {
        expect([String(n), "interrupted"]).toContain(outcome);
        expect(lines.filter((line) => line === String(n)).length).toBeLessThanOrEqual(1);
      }
    }
    // Two of three are enough for new calls.
    await expect(work.call.add(40, 2)).resolves.toBe(42);
  });
});
