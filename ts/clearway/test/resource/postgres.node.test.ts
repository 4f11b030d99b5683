// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: a database behind the contract of resources, which no host changes.
import { Worker } from "node:worker_threads";
import { type PoolOptions, pool } from "clearway";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { gate, reasonOf } from "../fixtures/pools.js";
import { PostgresServer, type Sessions, sessionsOf } from "../fixtures/postgres.js";
import type { PostgresData } from "../fixtures/postgres.tasks.js";

type Tasks = typeof import("../fixtures/postgres.tasks.js");

const url = new URL("../fixtures/built/postgres.tasks.js", import.meta.url);
const sleepS = 600;
// For tasks that end by their query's error. A second connection cancels the query within this time, or the worker is replaced first
// and the query is never cancelled. On a busy machine, connecting takes more than 300 ms.
const graceMs = 60_000;

async function start(options: PoolOptions = {}, checkAfterMs = 0) {
  const server = await PostgresServer.started();
  const admin = await server.admin();
  // The sessions of the test before this one may still be closing.
  await expect.poll(() => sessionsOf(admin)).toEqual([]);
  const workerData: PostgresData = { address: server.address, checkAfterMs };
  const database = pool<Tasks>(() => new Worker(url, { workerData }), { size: 1, graceMs, ...options });
  onTestFinished(() => database.terminate());
  return { server, admin, database };
}

/** Checks whether a session is executing the query of `sleep`. */
const sleeps = (pid: unknown) => (session: Sessions) =>
  session.pid === pid && session.state === "active" && session.query.includes("pg_sleep");

describe("a pool whose workers hold a PostgreSQL connection", () => {
  test("reuses it for every task, and closes it with the pool", async () => {
    const { admin, database } = await start();
    const pids = new Set<number>();
    for (let turn = 0; turn < 20; turn++) pids.add(await database.call.pid());
    expect(pids.size).toBe(1);
    for await (const row of database.call.rows(20)) expect(row).toEqual({ at: expect.any(Number) });
    expect(await database.call.pid()).toBe([...pids][0]);
    expect(await sessionsOf(admin)).toHaveLength(1);
    await database.close();
    await expect.poll(() => sessionsOf(admin)).toEqual([]);
  });

  test("has at most one connection per worker under any load", async () => {
    const { admin, database } = await start({ size: 2 });
    let most = 0;
    let done = false;
    const watched = (async () => {
      while (!done) most = Math.max(most, (await sessionsOf(admin)).length);
    })();
    // Repeats until both workers have opened a connection: one may be ready long before the other.
    const pids = new Set<number>();
    while (pids.size < 2) {
      for (const pid of await Promise.all(Array.from({ length: 400 }, () => database.call.pid()))) pids.add(pid);
    }
    done = true;
    await watched;
    expect(pids.size).toBe(2);
    expect(Math.max(most, (await sessionsOf(admin)).length)).toBe(2);
  });

  test("fails the task whose server stops, and opens a new connection for later tasks", async () => {
    const { server, database } = await start();
    const begun = gate<unknown>();
    const running = reasonOf(database.with({ onProgress: begun.tell }).call.sleep(sleepS));
    const before = await begun.promise;
    await server.end();
    // PostgreSQL's own error (57P01, terminating connection) or that of the broken connection. Either arrives complete.
    expect(await running).toMatchObject({ message: expect.stringMatching(/terminat/i) });
    expect(await reasonOf(database.call.pid())).toMatchObject({
      code: "resource-failed",
      cause: { code: "ECONNREFUSED" },
    });
    expect(await database.call.add(1, 2)).toBe(3);
    await server.begin();
    const after = await database.call.pid();
    expect(after).not.toBe(before);
    expect(await database.call.pid()).toBe(after);
    expect(database.stats().workers.restarts).toBe(0);
  });

  test("detects that the server closed an idle connection, and its worker survives", async () => {
    const { admin, database } = await start();
    const first = await database.call.pid();
    await admin.query("select pg_terminate_backend($1)", [first]);
    await expect.poll(() => sessionsOf(admin)).toEqual([]);
    const second = await database.call.pid();
    expect(second).not.toBe(first);
    expect(database.stats().workers.restarts).toBe(0);
    expect(await sessionsOf(admin)).toMatchObject([{ pid: second }]);
  });

  test("detects that the server ended an idle session by its own limit", async () => {
    const { admin, database } = await start();
    // The limit applies only to this session, and its last query sets it, so no query of a slow worker exceeds it.
    const first = await database.call.idleAtMost("50ms");
    await expect.poll(() => sessionsOf(admin)).toEqual([]);
    expect(await database.call.pid()).not.toBe(first);
    expect(database.stats().workers.restarts).toBe(0);
  });

  test("leaves no query or session behind when a task is cancelled during a query", async () => {
    const { admin, database } = await start();
    const controller = new AbortController();
    const begun = gate<unknown>();
    const { signal } = controller;
    const running = reasonOf(database.with({ signal, onProgress: begun.tell }).call.sleep(sleepS));
    const pid = await begun.promise;
    // PostgreSQL cancels only a running query. A cancel before the query starts has no effect.
    while (!(await sessionsOf(admin)).some(sleeps(pid)));
    const why = new Error("not wanted any more");
    controller.abort(why);
    expect(await running).toBe(why);
    await expect.poll(() => sessionsOf(admin)).toEqual([]);
    // The task ended by its query's error, so its worker stays.
    expect(await database.call.pid()).not.toBe(pid);
    expect(database.stats().workers.restarts).toBe(0);
  });

  test("leaves no query or session behind when a task times out", async () => {
    const { admin, database } = await start();
    await database.call.pid();
    const begun = gate<unknown>();
    // A fake clock: the timeout passes when the query runs, and not before, however slow the machine is.
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => useRealTimers());
    const running = reasonOf(database.with({ timeoutMs: 100, onProgress: begun.tell }).call.sleep(sleepS));
    const pid = await begun.promise;
    while (!(await sessionsOf(admin)).some(sleeps(pid)));
    vi.advanceTimersByTime(100);
    expect(await running).toMatchObject({ code: "timeout" });
    while ((await sessionsOf(admin)).length > 0);
    useRealTimers();
    expect(await database.call.add(1, 1)).toBe(2);
  });

  test("leaves no query or session behind when a cancelled task ignores its signal and its worker is replaced", async () => {
    const { admin, database } = await start();
    const controller = new AbortController();
    const begun = gate<unknown>();
    const { signal } = controller;
    const running = reasonOf(database.with({ signal, onProgress: begun.tell }).call.deafSleep(sleepS));
    const pid = await begun.promise;
    const isAtWork = sleeps(pid);
    while (!(await sessionsOf(admin)).some(isAtWork));
    // A fake clock: the grace period passes when the query has been cancelled, and not before, however slow the machine is.
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => useRealTimers());
    controller.abort();
    expect(await running).toMatchObject({ name: "AbortError" });
    while ((await sessionsOf(admin)).some(isAtWork));
    vi.advanceTimersByTime(graceMs);
    useRealTimers();
    await expect.poll(async () => (await sessionsOf(admin)).map((session) => session.pid)).not.toContain(pid);
    expect(await database.call.pid()).not.toBe(pid);
    // The cancelling connection may still be closing.
    await expect.poll(() => sessionsOf(admin)).toHaveLength(1);
    expect(database.stats().workers.restarts).toBe(1);
  });

  test("leaves no session or transaction behind when a worker exits during one", async () => {
    const { admin, database } = await start();
    const begun = gate<unknown>();
    const running = reasonOf(database.with({ onProgress: begun.tell }).call.exitInTransaction());
    const pid = await begun.promise;
    expect(await running).toMatchObject({ code: "worker-exited" });
    await expect.poll(() => sessionsOf(admin)).toEqual([]);
    const { rows } = await admin.query("select 1 from pg_tables where tablename = 'left_behind'");
    expect(rows).toEqual([]);
    expect(await database.call.pid()).not.toBe(pid);
    expect(database.stats().workers.restarts).toBe(1);
  });

  test("keeps a session's state for all calls with the same key", async () => {
    const { database } = await start({ size: 2 });
    const keys = ["ann", "ben", "cem", "dag", "eve"];
    const homes = new Map<string, number>();
    for (const key of keys) homes.set(key, await database.with({ key }).call.set(key));
    // Several keys share a worker, so a worker's session holds the value that was set last.
    const last = new Map([...homes].map(([key, pid]) => [pid, key]));
    expect(last.size).toBe(2);
    const got = await Promise.all(
      keys.flatMap((key) => [0, 1, 2].map(async () => ({ key, ...(await database.with({ key }).call.get()) }))),
    );
    for (const { key, pid, value } of got) {
      expect(pid).toBe(homes.get(key));
      expect(value).toBe(last.get(pid));
    }
  });
});
