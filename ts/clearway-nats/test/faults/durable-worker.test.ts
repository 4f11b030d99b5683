// SPDX-License-Identifier: MIT OR Apache-2.0
import { jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, test } from "vitest";
import { namesOf } from "../../src/durable/names.js";
import { caller, connection, logFile, serve } from "../durable/harness.js";
import { noServer, startServer } from "../server/nats-server.js";
import { startWorker, type WorkerProcess } from "./worker-process.js";

const modes = ["durable"] as const;
// The servers give a call to another process when they have heard nothing for this time.
const durable = { ackWaitMs: 1_000, tries: 2 };

describe.skipIf(noServer)("a durable call whose worker process is killed", () => {
  test("runs again in another process when its task is idempotent", async () => {
    const log = logFile();
    const { url } = await startServer();
    const options = { servers: url, modes, durable, idempotent: ["held"] };
    const first = await startWorker(options);
    const work = await caller(await connection(url));
    const call = work.call.held(log.path, "x", log.beside("gate"));
    await log.until((lines) => lines.includes("begun x"));
    await first.kill();
    await startWorker(options);
    await log.until((lines) => lines.filter((line) => line === "begun x").length === 2);
    log.create("gate");
    await expect(call).resolves.toBe("x");
    expect(log.lines()).toEqual(["begun x", "begun x", "ended x"]);
  });

  test("fails with interrupted and does not run again when its task is not idempotent", async () => {
    const log = logFile();
    const { url } = await startServer();
    const options = { servers: url, modes, durable };
    const first = await startWorker(options);
    const work = await caller(await connection(url));
    const call = work.call.held(log.path, "x", log.beside("gate"));
    const rejected = expect(call).rejects.toMatchObject({ code: "interrupted", message: /"held"/ });
    await log.until((lines) => lines.includes("begun x"));
    await first.kill();
    log.create("gate");
    await startWorker(options);
    await rejected;
    await expect(work.call.add(1, 1)).resolves.toBe(2);
    expect(log.lines()).toEqual(["begun x"]);
  });

  test("runs in another process when it had not begun, also if its task is not idempotent", async () => {
    const log = logFile();
    const { url } = await startServer();
    const options = { servers: url, modes, durable, pool: { size: 1 } };
    const first = await startWorker(options);
    const work = await caller(await connection(url));
    const one = work.call.held(log.path, "one", log.beside("gate"));
    const interrupted = expect(one).rejects.toMatchObject({ code: "interrupted" });
    await log.until((lines) => lines.includes("begun one"));
    await expect.poll(() => work.stats().unconfirmed).toBe(0);
    await first.kill();
    // Never delivered to the first process.
    const two = work.call.effect(log.path, "two");
    await startWorker(options);
    await interrupted;
    await expect(two).resolves.toBe("two");
    expect(log.lines().filter((line) => line === "two")).toHaveLength(1);
  });

  test("runs in another process when it waited for the process that was killed, also if its task is not idempotent", async () => {
    const log = logFile();
    const { url } = await startServer();
    const nats = await connection(url);
    const options = { servers: url, modes, durable, pool: { size: 1 } };
    const first = await startWorker(options);
    const work = await caller(nats);
    const one = work.call.held(log.path, "one", log.beside("gate"));
    const interrupted = expect(one).rejects.toMatchObject({ code: "interrupted" });
    await log.until((lines) => lines.includes("begun one"));
    const two = work.call.effect(log.path, "two");
    await first.kill();
    await startWorker(options);
    await interrupted;
    await expect(two).resolves.toBe("two");
  });

  test("is given up after its tries, is kept in the dead-letter stream, and others go on", async () => {
    const { url } = await startServer();
    const nats = await connection(url);
    const options = { servers: url, modes, durable: { ...durable, tries: 3 }, idempotent: ["killProcess"] };
    const work = await caller(nats);
    let ended = false;
    const poison = work.call.killProcess().finally(() => {
      ended = true;
    });
    const rejected = expect(poison).rejects.toMatchObject({ code: "dead-letter", message: /"killProcess".* 3 runs/ });
    let deaths = 0;
    let worker = await startWorker(options);
    while (!ended) {
      const died = await Promise.race([
        worker.exited.then(() => true),
        poison.then(
          () => false,
          () => false,
        ),
      ]);
      if (!died) break;
      deaths++;
      worker = await startWorker(options);
    }
    await rejected;
    expect(deaths).toBe(3);
    await expect(work.call.add(1, 1)).resolves.toBe(2);
    const manager = await jetstreamManager(nats);
    const { calls, dead } = namesOf("work", "0");
    expect((await manager.streams.info(dead)).state.messages).toBe(1);
    await expect.poll(async () => (await manager.streams.info(calls)).state.messages).toBe(0);
  });

  test("is given up when it ends the threads of a process that goes on", async () => {
    const { url } = await startServer();
    const nats = await connection(url);
    const worker = await serve(nats, { serve: { tries: 3 } });
    const work = await caller(nats);
    await expect(work.call.exit()).rejects.toMatchObject({ code: "dead-letter", cause: { code: "worker-exited" } });
    await expect(work.call.add(1, 1)).resolves.toBe(2);
    expect(worker.stats()).toMatchObject({ again: 2, deadLetters: 1, givenBack: 2 });
  });

  test("fails with the thread's end when its task is not idempotent", async () => {
    const { url } = await startServer();
    const nats = await connection(url);
    const worker = await serve(nats, { idempotent: [] });
    const work = await caller(nats);
    await expect(work.call.exit()).rejects.toMatchObject({ code: "worker-exited" });
    expect(worker.stats()).toMatchObject({ again: 0, deadLetters: 0, givenBack: 0 });
  });

  test("is never lost and never has two effects, at whatever moment the process is killed", async () => {
    const log = logFile();
    const { url } = await startServer();
    const options = { servers: url, modes, durable: { ackWaitMs: 1_000, tries: 100 }, idempotent: ["add"] };
    const workers: WorkerProcess[] = [await startWorker(options), await startWorker(options)];
    const work = await caller(await connection(url));

    // A process is killed whenever a number of calls has ended, so at another moment of another call each time.
    const perKill = 37;
    const kills = 8;
    let settled = 0;
    let killed = 0;
    const replaced: Promise<unknown>[] = [];
    const count = (): void => {
      if (++settled % perKill !== 0 || killed >= kills) return;
      const victim = workers[killed % 2]!;
      const index = killed++ % 2;
      replaced.push(
        victim.kill().then(async () => {
          workers[index] = await startWorker(options);
        }),
      );
    };
    const calls = Array.from({ length: 400 }, (_, n) => n);
    const outcomes = await Promise.all(
      calls.map(async (n) => {
        try {
          return n % 2 === 0 ? await work.call.add(n, 1) : await work.call.effect(log.path, String(n));
        } catch (reason) {
          return (reason as { code: string }).code;
        } finally {
          count();
        }
      }),
    );
    await Promise.all(replaced);

    const effects = new Map<string, number>();
    for (const line of log.lines()) effects.set(line, (effects.get(line) ?? 0) + 1);
    expect(killed).toBe(kills);
    for (const n of calls) {
      if (n % 2 === 0) expect(outcomes[n]).toBe(n + 1);
      else {
        expect([String(n), "interrupted"]).toContain(outcomes[n]);
        expect(effects.get(String(n)) ?? 0).toBeLessThanOrEqual(1);
        if (outcomes[n] === String(n)) expect(effects.get(String(n))).toBe(1);
      }
    }
    expect(work.stats()).toMatchObject({ open: 0, malformed: 0 });
  });
});

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
