// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Pools whose workers run in other processes, on this machine or on others, over NATS. Worker processes import `clearway-nats/serve`.
 *
 * @module clearway-nats
 */

import type { DurablePool } from "./durable/pool.js";
import { connected } from "./options/connect.js";
import { type DurableRemotePoolOptions, durableSettingsOf, type RemotePoolOptions } from "./options/pool.js";
import { type RemotePool, requestPool } from "./request/remote-pool.js";
import { wireCodec } from "./wire/call.js";

export type { DurablePoolStats } from "./durable/caller.js";
export { type CallbackOutcome, readCallback } from "./durable/layout.js";
export type { DurableCallerOptions, DurableOptions } from "./durable/options.js";
export type {
  DurableArguments,
  DurableCallable,
  DurableCallers,
  DurableCallOptions,
  DurablePool,
  ResultOptions,
  SubmitOptions,
} from "./durable/pool.js";
export type { ConnectOptions } from "./options/connect.js";
export type {
  CommonPoolOptions,
  DurableRemotePoolOptions,
  RemoteCallOptions,
  RemotePoolLimits,
  RemotePoolOptions,
} from "./options/pool.js";
export type {
  RemoteAdvice,
  RemoteCallable,
  RemotePool,
  RemotePoolStats,
  RemoteTaskAdvice,
  RemoteTaskStats,
} from "./request/remote-pool.js";

/**
 * Makes a pool whose workers are other processes: `await remotePool<typeof import("./images.tasks.js")>({ servers, module: "images" })`.
 *
 * Resolves when the connection to NATS is made. Does not wait for workers. In `request` mode, a call fails with `no-worker` if there is none;
 * in `durable` mode, it waits for one. The connection keeps the process alive until `close()`.
 *
 * Rejects with `invalid-argument` for an unknown or invalid option, and with `connect-failed` if NATS cannot be reached, or has no JetStream
 * for `durable` mode. The pool's `with()` throws `invalid-argument`, too.
 */
export async function remotePool<Module>(options: RemotePoolOptions): Promise<RemotePool<Module>>;
export async function remotePool<Module>(options: DurableRemotePoolOptions): Promise<DurablePool<Module>>;
export async function remotePool<Module>(
  options: RemotePoolOptions | DurableRemotePoolOptions,
): Promise<RemotePool<Module> | DurablePool<Module>> {
  if ((options as DurableRemotePoolOptions | undefined)?.mode === "durable")
    return durable(options as DurableRemotePoolOptions);
  return requestPool(options as RemotePoolOptions);
}

async function durable<Module>(options: DurableRemotePoolOptions): Promise<DurablePool<Module>> {
  const settings = durableSettingsOf(options);
  wireCodec(settings.extensions); // throws for invalid extensions, before there is a connection
  // Loads the code of durable mode, and JetStream's client with it.
  const { durablePool } = await import("./durable/pool.js");
  const { connection, own } = await connected(settings);
  const closed = async (): Promise<void> => {
    if (own) await connection.close();
  };
  try {
    return await durablePool<Module>({ ...settings, connection, closed }, settings.durable);
  } catch (reason) {
    await closed();
    throw reason;
  }
}
