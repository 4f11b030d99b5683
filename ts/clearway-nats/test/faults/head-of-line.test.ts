// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { caller, connection, serve } from "../durable/harness.js";
import { logFile } from "../fixtures/log-file.js";
import { noServer, startServer } from "../server/nats-server.js";

// Each worker process runs one call at a time. The long call ends only after the short ones.
describe.skipIf(noServer)("short calls do not wait for a long one while another worker process is idle", () => {
  const tasks = [
    ["idempotent tasks", ["add", "held"]],
    ["tasks that run once", []],
  ] as const;
  test.each(tasks)("when no call has ended before (%s)", async (_name, idempotent) => {
    const log = logFile();
    const server = await startServer();
    const work = await caller(await connection(server.url));
    for (let each = 0; each < 2; each++) await serve(await connection(server.url), { idempotent, pool: { size: 1 } });
    const long = work.call.held(log.path, "long", log.beside("gate"));
    await log.until((lines) => lines.includes("begun long"));
    for (let n = 0; n < 20; n++) await expect(work.call.add(n, 1)).resolves.toBe(n + 1);
    log.create("gate");
    await expect(long).resolves.toBe("long");
  });

  test.each(tasks)("when short ones made the process take many ahead (%s)", async (_name, idempotent) => {
    const log = logFile();
    const server = await startServer();
    const work = await caller(await connection(server.url));
    const serving = async () => serve(await connection(server.url), { idempotent, pool: { size: 1 } });
    const first = await serving();
    await Promise.all(Array.from({ length: 300 }, (_, n) => work.call.add(n, 1)));
    const long = work.call.held(log.path, "long", log.beside("gate"));
    const short = Array.from({ length: 200 }, (_, n) => {
      const way = [work, work.with({ priority: 1 }), work.with({ key: n })][n % 3]!;
      return way.call.add(n, 1);
    });
    await log.until((lines) => lines.includes("begun long"));
    await serving();
    await expect(Promise.all(short)).resolves.toHaveLength(200);
    log.create("gate");
    await expect(long).resolves.toBe("long");
    await expect.poll(() => first.stats().open).toBe(0);
    expect(first.stats()).toMatchObject({ interrupted: 0, deadLetters: 0 });
  });

  test("when its arguments have no room in the memory of the process", async () => {
    const log = logFile();
    const server = await startServer();
    const work = await caller(await connection(server.url), { call: { objectBytesMin: 1_000 } });
    const limits = { bytesMax: 5_000, bytesPerCallerMax: 5_000, messageBytesMax: 5_000 };
    const serving = async () => serve(await connection(server.url), { pool: { size: 2 }, limits });
    await serving();
    const long = work.call.held(log.path, "long".padEnd(4_000), log.beside("gate"));
    await log.until((lines) => lines.some((line) => line.startsWith("begun long")));
    const short = work.call.lengthOf(new Uint8Array(4_000));
    await serving();
    await expect(short).resolves.toBe(4_000);
    log.create("gate");
    await expect(long).resolves.toMatch(/^long/);
  });
});
