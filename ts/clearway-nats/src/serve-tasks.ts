// SPDX-License-Identifier: MIT OR Apache-2.0
import { nuid } from "@nats-io/transport-node";
import { type Pool, type PoolStats, pool, type SetupData, type WorkerSource } from "clearway";
import { checked, invalid } from "clearway/remote";
import { type Clock, systemClock } from "./clock.js";
import type { DurableServeStats } from "./durable/server.js";
import { type Connected, connected, subscribed } from "./options/connect.js";
import {
  type AnyModule,
  type AnyServeOptions,
  type ServeContext,
  type ServedMode,
  type ServeOptions,
  type ServeSettings,
  serveSettingsOf,
} from "./options/serve.js";
import { RequestServer, type RequestStats } from "./request/request-server.js";
import { wireCodec } from "./wire/call.js";

/** Counters of a server. */
export interface ServerStats {
  /** Id of this worker process, as callers see it. */
  readonly workerId: string;
  /** The local pool. */
  readonly pool: PoolStats;
  /** The mode `request`. Undefined if the server does not have it. */
  readonly request: RequestStats | undefined;
  /** The mode `durable`. Undefined if the server does not have it. */
  readonly durable: DurableServeStats | undefined;
}

/** A worker process of a module. It keeps its process alive until `close()`. */
export interface TaskServer extends AsyncDisposable {
  /** Returns counters. */
  stats(): ServerStats;
  /**
   * Takes no more calls, waits for the open ones, and closes the local pool and the connection. Calls that take longer than `timeoutMs`
   * (default 30,000) fail with `pool-closed`. `await using` calls `close()`.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<void>;
  /** Settles when the server has closed, or when the connection has ended for good. Never rejects. */
  readonly closed: Promise<void>;
}

/** The type of the data for a module's `setup`. */
type SetupOf<Module> = SetupData<Module extends { readonly default: infer Tasks } ? Tasks : Module>;

/**
 * Serves the tasks of a module. `source` is the URL of the task module, as for `pool()`. Resolves when calls reach this process.
 *
 * Rejects with `invalid-argument` for an unknown or invalid option, with `connect-failed` if NATS cannot be reached, and with the error of
 * the local pool, such as `worker-start-failed`, if the module cannot be loaded.
 */
export async function serveTasks<Module>(
  source: WorkerSource,
  options: ServeOptions<SetupOf<Module>>,
): Promise<TaskServer> {
  return serveWith(source, options as AnyServeOptions, systemClock);
}

/** Serves the tasks of a module with a certain clock. */
export async function serveWith(source: WorkerSource, options: AnyServeOptions, clock: Clock): Promise<TaskServer> {
  const settings = serveSettingsOf(options);
  const codec = wireCodec(settings.extensions);
  const local: Pool<AnyModule> = pool(source, settings.pool);
  // The workers of the local pool start while the connection is made.
  const connecting = connected(settings);
  let made: Connected | undefined;
  try {
    [made] = await Promise.all([connecting, local.ready()]);
    const tasks = Object.keys(local.stats().tasks);
    checkIdempotent(settings, tasks);
    const { connection } = made;
    const context = { connection, settings, workerId: nuid.next(), codec, pool: local, tasks };
    return await started(context, made, clock);
  } catch (reason) {
    await local.terminate();
    const closed = connecting.then(({ own, connection }) => (own ? connection.close() : undefined)).catch(() => {});
    // A connection that is still being made may take as long as NATS does not answer. The error does not wait for it.
    if (made) await closed;
    throw reason;
  }
}

async function started(context: ServeContext, link: Connected, clock: Clock): Promise<TaskServer> {
  const { settings, pool: local, workerId, connection } = context;
  const request = settings.modes.includes("request") ? subscribed(() => new RequestServer(context, clock)) : undefined;
  let durable: ServedMode<DurableServeStats> | undefined;
  try {
    if (settings.modes.includes("durable")) durable = await startDurable(context);
  } catch (reason) {
    await request?.close(0);
    throw reason;
  }
  await request?.start();
  const modes: ServedMode<unknown>[] = [request, durable].filter((each) => each !== undefined);
  let closing: Promise<void> | undefined;
  let ended: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  void connection.closed().then(() => ended());
  const end = async (timeoutMs: number): Promise<void> => {
    const endMs = clock.nowMs() + timeoutMs;
    await Promise.all(modes.map((mode) => mode.close(timeoutMs)));
    // A call that ends later than its mode has no way for its outcome.
    await local.close({ timeoutMs: Math.max(0, endMs - clock.nowMs()) });
    if (link.own && !connection.isClosed()) await connection.close();
    ended();
  };
  const close = async (closeOptions: { timeoutMs?: number | undefined } = {}): Promise<void> => {
    const { timeoutMs = 30_000 } = checked(closeOptions, { timeoutMs: 0 });
    closing ??= end(timeoutMs);
    await closing;
  };
  return {
    stats: () => ({ workerId, pool: local.stats(), request: request?.stats(), durable: durable?.stats() }),
    close,
    closed,
    [Symbol.asyncDispose]: () => close(),
  };
}

// Loads the code of durable mode, and JetStream's client with it.
async function startDurable(context: ServeContext): Promise<ServedMode<DurableServeStats>> {
  const { serveDurable } = await import("./durable/server.js");
  return serveDurable(context, context.settings.durable);
}

function checkIdempotent({ idempotent }: ServeSettings, tasks: readonly string[]): void {
  for (const name of idempotent)
    if (!tasks.includes(name)) throw invalid("idempotent", `the names of tasks (${tasks.join(", ")})`, name);
}
