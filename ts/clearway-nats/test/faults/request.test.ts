// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test } from "vitest";
import { remotePool } from "../../src/index.js";
import { connection, logFile, type Work } from "../durable/harness.js";
import { freePort, noServer, startCluster, startServer } from "../server/nats-server.js";
import { startProxy } from "../server/proxy.js";
import { startWorker, type WorkerProcess } from "./worker-process.js";

// The shortest time that the options allow. A call whose worker is silent for so long fails.
const silenceMs = 3_000;
const watchful = { pingInterval: 100, maxPingOut: 2, reconnectTimeWait: 50, maxReconnectAttempts: -1 };
// The codes with which a call may fail when its worker, its connection or the servers fail.
const faults = ["worker-lost", "no-worker", "transport-closed"];

async function open(servers: string | string[], nats: object = { reconnectTimeWait: 50 }) {
  const errors: unknown[] = [];
  const work = await remotePool<Work>({
    servers,
    module: "work",
    silenceMs,
    nats,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => work.terminate());
  return work;
}

const codeOf = (reason: unknown): string => (reason as { code: string }).code;

describe.skipIf(noServer)("a call in request mode whose worker process is killed", () => {
  test("fails with worker-lost, has begun once, and does not run again", async () => {
    const log = logFile();
    const { url } = await startServer();
    const first = await startWorker({ servers: url });
    const work = await open(url);
    const call = work.call.held(log.path, "x", log.beside("gate"));
    const rejected = expect(call).rejects.toMatchObject({ code: "worker-lost" });
    await log.until((lines) => lines.includes("begun x"));
    await startWorker({ servers: url });
    await first.kill();
    log.create("gate");
    await rejected;
    await expect(work.call.add(1, 2)).resolves.toBe(3);
    expect(log.lines()).toEqual(["begun x"]);
  });

  test("never hangs and never has two effects, at whatever moment the process is killed", async () => {
    const log = logFile();
    const { url } = await startServer();
    const workers: WorkerProcess[] = [await startWorker({ servers: url }), await startWorker({ servers: url })];
    const work = await open(url);
    const perKill = 23;
    const kills = 4;
    let settled = 0;
    let killed = 0;
    const replaced: Promise<unknown>[] = [];
    const count = (): void => {
      if (++settled % perKill !== 0 || killed >= kills) return;
      const index = killed++ % 2;
      const victim = workers[index]!;
      replaced.push(
        victim.kill().then(async () => {
          workers[index] = await startWorker({ servers: url });
        }),
      );
    };
    const one = async (n: number): Promise<string> => {
      try {
        return await work.call.effect(log.path, String(n));
      } catch (reason) {
        return codeOf(reason);
      } finally {
        count();
      }
    };
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, n) => one(n)));
    await Promise.all(replaced);
    expect(killed).toBe(kills);
    const lines = log.lines();
    expect(new Set(lines).size).toBe(lines.length);
    for (const [n, outcome] of outcomes.entries()) {
      expect([String(n), ...faults]).toContain(outcome);
      if (outcome === String(n)) expect(lines).toContain(String(n));
    }
    expect(work.stats().open).toBe(0);
  });

  test("ends its stream with worker-lost", async () => {
    const { url } = await startServer();
    const worker = await startWorker({ servers: url });
    const work = await open(url);
    const stream = work.with({ window: { items: 4 } }).call.count(1_000_000);
    await expect(stream.next()).resolves.toMatchObject({ value: 0 });
    await worker.kill();
    const read = async (): Promise<void> => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toMatchObject({ code: "worker-lost" });
  });
});

describe.skipIf(noServer)("a call in request mode", () => {
  test("settles when the servers restart, and later calls reach the workers", async () => {
    const log = logFile();
    const server = await startServer({ port: await freePort() });
    await startWorker({ servers: server.url, nats: { reconnectTimeWait: 50 } });
    const work = await open(server.url);
    const call = work.call.held(log.path, "x", log.beside("gate")).catch(codeOf);
    await log.until((lines) => lines.includes("begun x"));
    await server.kill();
    const lost = work.call.add(1, 1).catch(codeOf);
    await server.start();
    log.create("gate");
    expect(["x", ...faults]).toContain(await call);
    expect([2, ...faults]).toContain(await lost);
    await expect.poll(() => work.call.add(1, 2).catch(codeOf)).toBe(3);
    expect(log.lines()).toEqual(["begun x", "ended x"]);
  });

  test.each(["cut", "stall"] as const)(
    "fails typed when its caller hears nothing (%s), and later calls succeed",
    async (how) => {
      const log = logFile();
      const server = await startServer();
      const proxy = await startProxy(server.port);
      await startWorker({ servers: server.url });
      const work = await open(proxy.url, watchful);
      const call = work.call.held(log.path, "x", log.beside("gate"));
      const rejected = expect(call).rejects.toMatchObject({ code: expect.stringMatching(faults.join("|")) });
      await log.until((lines) => lines.includes("begun x"));
      proxy[how]();
      const made = work.call.add(1, 1).catch(codeOf);
      await rejected;
      proxy.resume();
      expect([2, ...faults]).toContain(await made);
      await expect.poll(() => work.call.add(1, 2).catch(codeOf)).toBe(3);
      expect(log.lines().filter((line) => line === "begun x")).toHaveLength(1);
    },
  );

  test.each(["the caller", "the worker process", "both"])(
    "that is a stream fails with worker-lost when the connection of %s is interrupted for a moment",
    async (side) => {
      const server = await startServer({ port: await freePort() });
      const proxy = await startProxy(server.port);
      const servers = side === "the worker process" ? proxy.url : server.url;
      await startWorker({ servers, nats: { reconnectTimeWait: 50 } });
      const work = await open(side === "the caller" ? proxy.url : server.url);
      const stream = work.with({ window: { items: 4 } }).call.count(1_000_000);
      await expect(stream.next()).resolves.toMatchObject({ value: 0 });
      if (side === "both") {
        await server.kill();
        await server.start();
      } else {
        proxy.cut();
        proxy.mend();
      }
      const read = async (): Promise<void> => {
        for await (const _ of stream);
      };
      await expect(read()).rejects.toMatchObject({ code: "worker-lost" });
      await expect.poll(() => work.call.add(1, 2).catch(codeOf)).toBe(3);
    },
  );

  test("has one effect when its worker's connection is cut", async () => {
    const log = logFile();
    const server = await startServer();
    const proxy = await startProxy(server.port);
    await startWorker({ servers: proxy.url, nats: { reconnectTimeWait: 50 } });
    const work = await open(server.url);
    const call = work.call.held(log.path, "x", log.beside("gate"));
    const rejected = expect(call).rejects.toMatchObject({ code: "worker-lost" });
    await log.until((lines) => lines.includes("begun x"));
    proxy.cut();
    await rejected;
    proxy.mend();
    log.create("gate");
    await expect.poll(() => work.call.add(1, 2).catch(codeOf)).toBe(3);
    expect(log.lines().filter((line) => line === "begun x")).toHaveLength(1);
  });

  test("settles when the server cuts a caller that reads too slowly", async () => {
    const server = await startServer({ pendingBytesMax: 2 ** 20 });
    const proxy = await startProxy(server.port);
    await startWorker({ servers: server.url });
    const work = await open(proxy.url, watchful);
    await work.call.add(1, 1);
    proxy.stallReader();
    const calls = Array.from({ length: 40 }, () =>
      work.call.bytes(100_000).then((bytes) => (bytes as Uint8Array).length, codeOf),
    );
    const outcomes = Promise.all(calls);
    await expect.poll(() => proxy.accepted).toBeGreaterThan(1);
    proxy.resume();
    for (const outcome of await outcomes) expect([100_000, ...faults]).toContain(outcome);
    await expect.poll(() => work.call.add(1, 2).catch(codeOf)).toBe(3);
  });

  test.each([400 * 24 * 3_600_000, -400 * 24 * 3_600_000])(
    "does not depend on the clock of a worker process that is wrong by %i ms",
    async (skewMs) => {
      const { url } = await startServer();
      await startWorker({ servers: url, skewMs });
      const work = await open(url);
      const limited = work.with({ deadlineMs: 100_000, timeoutMs: 100_000, key: "k" });
      await expect(limited.call.add(1, 2)).resolves.toBe(3);
    },
  );

  test("settles when the cluster's server of its caller is killed", async () => {
    const log = logFile();
    const cluster = await startCluster();
    await startWorker({ servers: cluster.urls, nats: { reconnectTimeWait: 50 } });
    const nats = await connection(cluster.urls);
    const work = await remotePool<Work>({ connection: nats, module: "work", silenceMs, onError: () => {} });
    const call = work.call.held(log.path, "x", log.beside("gate")).catch(codeOf);
    await log.until((lines) => lines.includes("begun x"));
    const port = nats.getServer().split(":").at(-1);
    await cluster.servers.find((each) => String(each.port) === port)?.kill();
    log.create("gate");
    expect(["x", ...faults]).toContain(await call);
    await expect.poll(() => work.call.add(1, 2).catch(codeOf)).toBe(3);
    await work.close();
  });
});
