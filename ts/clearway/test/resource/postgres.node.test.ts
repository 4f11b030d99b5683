// SPDX-License-Identifier: MIT OR Apache-2.0
// One host: a database behind the contract of resources, which no host changes.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type PoolOptions, pool } from "clearway";
import pg from "pg";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { gate, reasonOf } from "../fixtures/pools.js";
import type { PostgresData } from "../fixtures/postgres.tasks.js";

const versions = "/usr/lib/postgresql";
// Fails a start that hangs. On a busy machine, a start takes seconds.
const startLimitMs = 90_000;
// Below the range of ephemeral ports (32768 and up on Linux). A server that restarts during a test must find its port free, so no
// client's connection may take it.
const portsFrom = 20_000;
const portsTo = 32_000;

/** A session of the server, as `pg_stat_activity` shows it. */
interface Sessions {
  pid: number;
  state: string;
  query: string;
}

let shared: PostgresServer | undefined;

afterAll(async () => {
  await shared?.remove();
  shared = undefined;
});

/** The PostgreSQL server of a test file: in a temporary folder, on loopback, removed after the file's tests. */
class PostgresServer {
  readonly #bin = binaries();
  // The server must own the folder. It is in /tmp because the path of a socket is limited to 107 bytes.
  readonly #folder = mkdtempSync("/tmp/clearway-postgres-");
  readonly #user = userOfServer();
  #server: ChildProcess | undefined;
  port = 0;

  /** Returns the file's server. It runs, also after a test that has ended it. */
  static async started(): Promise<PostgresServer> {
    if (shared === undefined) {
      const server = new PostgresServer();
      shared = server;
      server.#initialize();
      server.port = await freePort();
    }
    if (shared.#server === undefined) await shared.begin();
    return shared;
  }

  /** The address for clients in other threads, as plain data. */
  get address(): { host: string; port: number; user: string; database: string } {
    return { host: "127.0.0.1", port: this.port, user: "postgres", database: "postgres" };
  }

  /** Starts the server, on the same port each time. */
  async begin(): Promise<void> {
    const settings = {
      listen_addresses: "127.0.0.1",
      port: String(this.port),
      unix_socket_directories: this.#folder,
      fsync: "off",
      max_connections: "30",
      shared_buffers: "16MB",
      autovacuum: "off",
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(join(this.#bin, "postgres"), ["-D", this.#data, ...flags], {
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
      ...this.#user,
    });
    this.#server = server;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`PostgreSQL did not start: ${why}\n${said}`));
      const limit = setTimeout(() => fail("it took too long"), startLimitMs);
      server.stderr!.setEncoding("utf8").on("data", (text: string) => {
        said = (said + text).slice(-4000);
        if (!said.includes("database system is ready to accept connections")) return;
        clearTimeout(limit);
        resolve();
      });
      server.once("error", (error) => fail(error.message));
      server.once("exit", (code) => fail(`it exited with ${code}`));
    });
  }

  /** Stops the server and all its sessions at once, like a fast shutdown. The data stays. */
  async end(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGINT");
    const limit = setTimeout(() => server.kill("SIGQUIT"), 30_000);
    await gone;
    clearTimeout(limit);
  }

  async remove(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Opens the test's own connection, which its name distinguishes from the workers'. It ends with the test. */
  async admin(): Promise<pg.Client> {
    const admin = new pg.Client({ ...this.address, application_name: "admin" });
    admin.on("error", () => {});
    await admin.connect();
    onTestFinished(() => admin.end());
    return admin;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  #initialize(): void {
    if (this.#user.uid !== undefined) execFileSync("chown", [`${this.#user.uid}:${this.#user.gid}`, this.#folder]);
    const flags = ["-D", this.#data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
    try {
      execFileSync(join(this.#bin, "initdb"), flags, { cwd: this.#folder, stdio: "pipe", ...this.#user });
    } catch (error) {
      throw new Error(`initdb failed: ${String((error as { stderr?: unknown }).stderr ?? error)}`, { cause: error });
    }
  }
}

/** Returns the sessions other than the test's own. */
async function sessionsOf(admin: pg.Client): Promise<Sessions[]> {
  const { rows } = await admin.query<Sessions>(
    `select pid, state, query from pg_stat_activity
     where backend_type = 'client backend' and application_name <> 'admin' order by backend_start`,
  );
  return rows;
}

function binaries(): string {
  const installed = existsSync(versions) ? readdirSync(versions) : [];
  const newest = installed.sort((a, b) => Number(b) - Number(a)).map((version) => join(versions, version, "bin"));
  const bin = newest.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
  if (bin !== undefined) return bin;
  throw new Error(
    `PostgreSQL's programs are not in ${versions}/*/bin. Add Debian's package: ` +
      "sudo apt-get install -y --no-install-recommends postgresql",
  );
}

// The server refuses to run as root. There it runs as the user that Debian's package has created for it.
function userOfServer(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

/** Returns a free port on loopback. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = portsFrom + Math.floor(Math.random() * (portsTo - portsFrom));
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

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
