// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { RemotePoolOptions } from "../../src/options/pool.js";
import type { AnyServeOptions } from "../../src/options/serve.js";
import { type Clock, systemClock } from "../../src/request/clock.js";
import { type RemotePool, requestPool } from "../../src/request/remote-pool.js";
import { serveWith, type TaskServer } from "../../src/serve/serve-tasks.js";
import { openServer, type ServerOptions, type TestServer } from "../server/nats-server.js";

export type Sample = typeof import("../fixtures/sample.tasks.js");

const source = new URL("../fixtures/built/sample.tasks.js", import.meta.url);

let modules = 0;

/** Returns a name of a module that no other test of this file uses. */
export function newModule(): string {
  return `sample-${modules++}`;
}

/** Starts one NATS server for the tests of a file. */
export function oneServer(options: ServerOptions = {}): { readonly url: string; readonly server: TestServer } {
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await openServer({ jetstream: false, ...options });
  });
  afterAll(() => server?.close());
  return {
    get url() {
      return server!.url;
    },
    get server() {
      return server!;
    },
  };
}

/** Serves the sample tasks in this process until the test ends. */
export async function serve(options: AnyServeOptions, clock: Clock = systemClock): Promise<TaskServer> {
  const server = await serveWith(source, { pool: { size: 1 }, onError: () => {}, ...options }, clock);
  onTestFinished(() => server.close({ timeoutMs: 0 }));
  return server;
}

/** Opens a pool for the sample tasks until the test ends. */
export async function open(options: RemotePoolOptions, clock: Clock = systemClock): Promise<RemotePool<Sample>> {
  const pool = await requestPool<Sample>({ onError: () => {}, ...options }, clock);
  onTestFinished(() => pool.terminate());
  return pool;
}

/** Serves the sample tasks and opens a pool for them. */
export async function pair(
  url: string,
  served: Partial<AnyServeOptions> = {},
  opened: Partial<RemotePoolOptions> = {},
): Promise<{ pool: RemotePool<Sample>; server: TaskServer; module: string }> {
  const module = newModule();
  const server = await serve({ servers: url, module, ...served });
  const pool = await open({ servers: url, module, ...opened });
  return { pool, server, module };
}

/** Calls `test` until it returns true, between turns of the event loop. A test that waits in vain ends by its time limit. */
export async function until(test: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise((resolve) => setImmediate(resolve));
}
