// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { type Clock, systemClock } from "../../src/clock.js";
import type { RemotePoolOptions } from "../../src/options/pool.js";
import type { AnyServeOptions } from "../../src/options/serve.js";
import { type RemotePool, requestPool } from "../../src/request/remote-pool.js";
import { serveWith, type TaskServer } from "../../src/serve-tasks.js";
import { decodeReply, wireCodec } from "../../src/wire/call.js";
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

/** The codec of all messages. */
export const codec = wireCodec();

/** A peer that speaks NATS, and sends what it wants. */
export class Peer {
  readonly received: Msg[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(
    readonly connection: NatsConnection,
    readonly inbox: string,
  ) {
    connection.subscribe(`${inbox}.*`, {
      callback: (_error, message) => {
        this.received.push(message);
        for (const each of this.#waiting.splice(0)) each();
      },
    });
  }

  send(subject: string, bytes: Uint8Array, token?: string): void {
    this.connection.publish(subject, bytes, token === undefined ? undefined : { reply: `${this.inbox}.${token}` });
  }

  async next(token: string): Promise<Msg> {
    for (;;) {
      const at = this.received.findIndex(({ subject }) => subject === `${this.inbox}.${token}`);
      if (at >= 0) return this.received.splice(at, 1)[0]!;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Returns the error of the next answer. */
  async failure(token: string): Promise<unknown> {
    const reply = decodeReply(codec, (await this.next(token)).data);
    return reply.ok ? expect.fail("the call succeeded") : reply.error;
  }
}

/** Connects a peer, with an inbox of its own. It ends with its test. */
export async function peer(url: string): Promise<Peer> {
  const connection = await connect({ servers: url });
  onTestFinished(() => connection.close());
  return new Peer(connection, `_INBOX.peer${Math.random().toString(36).slice(2)}`);
}
