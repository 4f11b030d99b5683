// SPDX-License-Identifier: MIT OR Apache-2.0
import type { RemotePoolOptions } from "./options/pool.js";
import { type RemotePool, requestPool } from "./request/remote-pool.js";

/**
 * Makes a pool whose workers are other processes: `await remotePool<typeof import("./images.tasks.js")>({ servers, module: "images" })`.
 *
 * Resolves when the connection to NATS is made. Does not wait for workers: a call fails with `no-worker` if there is none. The connection
 * keeps the process alive until `close()`.
 *
 * Rejects with `invalid-argument` for an unknown or invalid option, and with `connect-failed` if NATS cannot be reached. The pool's `with()`
 * throws `invalid-argument`, too.
 */
export async function remotePool<Module>(options: RemotePoolOptions): Promise<RemotePool<Module>> {
  return requestPool(options);
}
