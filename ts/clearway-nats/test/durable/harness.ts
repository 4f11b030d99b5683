// SPDX-License-Identifier: MIT OR Apache-2.0
import { existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type PoolOptions, pool } from "clearway";
import { onTestFinished } from "vitest";
import type { DurableCallerOptions, DurableServeOptions } from "../../src/durable/options.js";
import { type DurablePool, durablePool } from "../../src/durable/pool.js";
import { type DurableServeStats, serveDurable } from "../../src/durable/server.js";
import { type AnyModule, type ServedMode, type ServeLimits, serveSettingsOf } from "../../src/options/serve.js";
import { wireCodec } from "../../src/wire/call.js";

export type Work = typeof import("../fixtures/work.tasks.js");

/** The names of the tasks in `work.tasks.ts`. */
const tasks = "add echo bytes lengthOf fail notEncodable exit killProcess effect held untilAborted count".split(" ");

/** Connects to a server for a test. A lost connection is made again at once. */
export async function connection(url: string | string[], options: object = {}): Promise<NatsConnection> {
  const nats = await connect({ servers: url, maxReconnectAttempts: -1, reconnectTimeWait: 50, ...options });
  onTestFinished(() => nats.close());
  return nats;
}

/** Settings of {@link serve} and {@link caller}. */
export interface Ends {
  module?: string;
  version?: string;
  idempotent?: readonly string[];
  pool?: PoolOptions;
  limits?: ServeLimits;
  serve?: DurableServeOptions;
  call?: DurableCallerOptions;
}

export interface TestWorker extends ServedMode<DurableServeStats> {
  readonly errors: unknown[];
}

/** Serves the tasks of `work.tasks.ts` in this process. Ends with the test. */
export async function serve(nats: NatsConnection, ends: Ends = {}): Promise<TestWorker> {
  const errors: unknown[] = [];
  const settings = serveSettingsOf({
    connection: nats,
    module: ends.module ?? "work",
    ...(ends.version !== undefined && { version: ends.version }),
    modes: ["durable"],
    idempotent: ends.idempotent ?? ["add", "echo", "bytes", "lengthOf", "held", "exit"],
    limits: ends.limits ?? {},
    pool: (ends.pool ?? { size: { min: 1, max: 2 } }) as PoolOptions<never>,
    onError: (error) => errors.push(error),
  });
  const workers = pool<AnyModule>(
    new URL("../fixtures/built/work.tasks.js", import.meta.url),
    (settings.pool ?? {}) as PoolOptions<never>,
  );
  await workers.ready();
  const context = {
    connection: nats,
    settings,
    workerId: crypto.randomUUID(),
    codec: wireCodec(),
    pool: workers,
    tasks,
  };
  const served = await serveDurable(context, ends.serve);
  onTestFinished(async () => {
    await served.close(0);
    await workers.terminate();
  });
  return { ...served, stats: () => served.stats(), close: (timeoutMs) => served.close(timeoutMs), errors };
}

/** Opens a pool of the tasks of `work.tasks.ts`. Ends with the test. */
export async function caller(
  nats: NatsConnection,
  ends: Ends = {},
): Promise<DurablePool<Work> & { errors: unknown[] }> {
  const errors: unknown[] = [];
  const context = {
    connection: nats,
    module: ends.module ?? "work",
    version: ends.version ?? "0",
    extensions: [],
    onError: (error: unknown) => errors.push(error),
    closed: async () => {},
  };
  const opened = await durablePool<Work>(context, ends.call);
  onTestFinished(() => opened.terminate());
  return { ...opened, errors };
}

/** A file to which tasks write lines, and from which a test reads what they did. */
export interface LogFile {
  readonly path: string;
  /** The lines that are written. */
  lines(): string[];
  /** Settles when the lines fulfil a condition. */
  until(condition: (lines: readonly string[]) => boolean): Promise<void>;
  /** A path in the same folder. */
  beside(name: string): string;
  /** Creates a file in the same folder. Tasks wait for it. */
  create(name: string): void;
}

/** Makes a log file in a folder that is removed when the test ends. */
export function logFile(): LogFile {
  const folder = mkdtempSync(join(tmpdir(), "clearway-nats-log-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "log");
  writeFileSync(path, "");
  const lines = (): string[] => readFileSync(path, "utf8").split("\n").filter(Boolean);
  return {
    path,
    lines,
    until: (condition) =>
      new Promise((resolve) => {
        const watcher = watch(folder, () => look());
        const look = (): void => {
          if (!existsSync(path) || !condition(lines())) return;
          watcher.close();
          resolve();
        };
        look();
      }),
    beside: (name) => join(folder, name),
    create: (name) => writeFileSync(join(folder, name), ""),
  };
}
