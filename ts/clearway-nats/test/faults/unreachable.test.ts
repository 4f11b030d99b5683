// SPDX-License-Identifier: MIT OR Apache-2.0
import type { NatsConnection } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { remotePool } from "../../src/index.js";
import { serveTasks } from "../../src/serve.js";
import { caller, connection, logFile, serve, type Work } from "../durable/harness.js";
import { freePort, noServer, startServer, type TestServer } from "../server/nats-server.js";
import { startProxy } from "../server/proxy.js";

const module = "work";
const source = new URL("../fixtures/built/work.tasks.js", import.meta.url);

const ways = [
  ["is dead", (server: TestServer) => server.kill()],
  ["is frozen", async (server: TestServer) => server.freeze()],
] as const;

// Requests to JetStream have a limit of 30 s. A test that waits for one would take longer than this.
const closeMs = 20_000;

describe.skipIf(noServer)("close() keeps its time", () => {
  test.each(ways)("when the server %s, with open calls", { timeout: closeMs }, async (_name, end) => {
    const log = logFile();
    const server = await startServer({ port: await freePort() });
    const onError = (): void => {};
    const options = { servers: server.url, module, onError };
    const worker = await serveTasks(source, { ...options, modes: ["durable"], idempotent: ["held"] });
    const durable = await remotePool<Work>({ ...options, mode: "durable" });
    onTestFinished(() => durable.terminate());
    await expect(durable.call.add(1, 2)).resolves.toBe(3);
    const open = durable.call.held(log.path, "open", log.beside("gate"));
    const refused = expect(open).rejects.toMatchObject({ code: "pool-closed" });
    await log.until((lines) => lines.includes("begun open"));
    await end(server);
    await Promise.all([worker.close({ timeoutMs: 500 }), durable.close({ timeoutMs: 500 })]);
    await refused;
  });

  test.each(ways)("when the server %s, with outcomes to delete", { timeout: closeMs }, async (_name, end) => {
    const server = await startServer({ port: await freePort() });
    const options = { servers: server.url, module, onError: () => {} };
    const worker = await serveTasks(source, { ...options, modes: ["durable"] });
    const durable = await remotePool<Work>({ ...options, mode: "durable" });
    await expect(durable.call.add(1, 2)).resolves.toBe(3);
    await end(server);
    await Promise.all([worker.close({ timeoutMs: 500 }), durable.close({ timeoutMs: 500 }), durable.terminate()]);
  });
});

describe.skipIf(noServer)("a start goes on after its connection was cut", () => {
  const starts = {
    "a pool": (nats: NatsConnection) => caller(nats),
    "a worker process": (nats: NatsConnection) => serve(nats),
  };
  test.each([
    ["a pool", 1],
    ["a pool", 6],
    ["a worker process", 1],
    ["a worker process", 12],
  ] as const)("%s, at its request %i", { timeout: closeMs }, async (name, request) => {
    const server = await startServer();
    const proxy = await startProxy(server.port);
    const nats = await connection(proxy.url);
    const monitor = await connection(server.url);
    let requests = 0;
    const asked = new Promise<void>((resolve) => {
      monitor.subscribe("$JS.API.>", {
        callback: () => {
          if (++requests === request) resolve();
        },
      });
    });
    await monitor.flush();
    // The first answer never comes. A later one may.
    if (request === 1) proxy.stallReader();
    const opened = starts[name](nats);
    await asked;
    proxy.cut();
    proxy.mend();
    await opened;
  });
});
