// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { remotePool } from "../src/index.js";
import { caller, connection, serve } from "./durable/harness.js";
import { noServer, startServer } from "./server/nats-server.js";

afterEach(() => void vi.useRealTimers());

describe.skipIf(noServer)("while an app's test fakes the timers", () => {
  test("durable calls settle, and so do close() of the pool and of the server", async () => {
    const server = await startServer();
    const worker = await serve(await connection(server.url), { idempotent: ["echo"] });
    const work = await caller(await connection(server.url));
    vi.useFakeTimers();
    expect(await work.call.echo(1)).toBe(1);
    // An object in the servers' store.
    const large = await work.call.echo(new Uint8Array(3_000_000));
    expect((large as Uint8Array).length).toBe(3_000_000);
    await work.close();
    await worker.close(1_000);
  });
});

test("a pool names a queueMicrotask that does not run, which NATS's client needs", async () => {
  vi.useFakeTimers({ toFake: ["queueMicrotask"] });
  await expect(remotePool({ module: "work" })).rejects.toMatchObject({
    code: "connect-failed",
    message: expect.stringContaining("queueMicrotask"),
  });
});
