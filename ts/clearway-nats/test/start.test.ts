// SPDX-License-Identifier: MIT OR Apache-2.0
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../src/clock.js";
import { remotePool } from "../src/index.js";
import { callSettingsOf, requestSettingsOf } from "../src/options/pool.js";
import { reporter, serveSettingsOf } from "../src/options/serve.js";
import { serveWith } from "../src/serve-tasks.js";
import { caller, connection, serve } from "./durable/harness.js";
import { noServer, startServer } from "./server/nats-server.js";

const message = (act: () => unknown): string => {
  try {
    act();
  } catch (reason) {
    expect(reason).toMatchObject({ name: "ClearwayError", code: "invalid-argument" });
    return (reason as Error).message;
  }
  return "no error";
};

test.each<[object, RegExp]>([
  [{}, /module must be given: module=undefined/],
  [{ module: "a.b" }, /module must be .*: module="a\.b"/],
  [{ module: "" }, /module must be/],
  [{ module: "a", version: "1 2" }, /version must be .*: version="1 2"/],
  [{ module: "a", version: "1_2" }, /version must be/],
  [{ module: "a", servers: [] }, /servers must be/],
  [{ module: "a", servers: 4222 }, /servers must be .*: servers=4222/],
  [{ module: "a", nats: [] }, /nats must be/],
  [{ module: "a", connection: {} }, /connection must be an open NatsConnection/],
  [{ module: "a", silenceMs: 100 }, /silenceMs must be .*: silenceMs=100/],
  [{ module: "a", window: { items: 0 } }, /window\.items must be .*: window\.items=0/],
  [{ module: "a", window: { items: 1e9 } }, /window\.items must be/],
  [{ module: "a", limits: { callsMax: 0.5 } }, /limits\.callsMax must be/],
  [{ module: "a", mode: "both" }, /mode must be one of request, durable/],
  [{ modules: "a" }, /modules must be a known option \(the nearest is module\)/],
])("a pool refuses the options %o", (options, expected) => {
  expect(message(() => requestSettingsOf(options as never))).toMatch(expected);
});

test.each<[object, RegExp]>([
  [{ signal: {} }, /signal must be an AbortSignal/],
  [{ deadlineMs: -1 }, /deadlineMs must be/],
  [{ key: "x".repeat(1_025) }, /key must be/],
  [{ key: {} }, /key must be/],
  [{ priority: Number.NaN }, /priority must be/],
  [{ onprogress: () => {} }, /onprogress must be a known option \(the nearest is onProgress\)/],
])("calls refuse the options %o", (options, expected) => {
  expect(message(() => callSettingsOf(options as never, { window: { items: 1, bytes: 1 } }))).toMatch(expected);
});

test.each<[object, RegExp]>([
  [{ module: "a", modes: [] }, /modes must be/],
  [{ module: "a", modes: ["fast"] }, /modes must be/],
  [{ module: "a", idempotent: ["x"] }, /idempotent must be left out unless modes has "durable"/],
  [{ module: "a", durable: {} }, /durable must be left out/],
  [{ module: "a", modes: ["durable"], durable: { tries: 0 } }, /durable\.tries must be/],
  [{ module: "a", limits: { callMax: 1 } }, /limits\.callMax must be a known option \(the nearest is callsMax\)/],
  [{ module: "a", pool: 4 }, /pool must be/],
  [{ module: "a", onError: "print" }, /onError must be/],
])("a server refuses the options %o", (options, expected) => {
  expect(message(() => serveSettingsOf(options as never))).toMatch(expected);
});

test("remotePool() rejects with connect-failed, without the password, when no server is there", async () => {
  const failed = remotePool({ servers: "nats://me:sec@ret@127.0.0.1:1", module: "a" });
  await expect(failed).rejects.toMatchObject({
    code: "connect-failed",
    message: expect.not.stringMatching(/sec@|ret@/),
  });
});

test("remotePool() rejects with invalid-argument for wrong options of each mode", async () => {
  await expect(remotePool({ module: "a", mode: "durable", durable: { openMax: 0 } })).rejects.toMatchObject({
    code: "invalid-argument",
  });
  await expect(remotePool(undefined as never)).rejects.toMatchObject({ code: "invalid-argument" });
});

test("an error that onError throws is an uncaught error of the app, and does not reach the caller of the reporter", async () => {
  const listeners = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  try {
    const uncaught = new Promise((resolve) => process.once("uncaughtException", resolve));
    const report = reporter({}, () => {
      throw new Error("of the app");
    });
    report(new Error("of no call"));
    await expect(uncaught).resolves.toMatchObject({ message: "of the app" });
  } finally {
    for (const each of listeners) process.on("uncaughtException", each);
  }
});

test("a reporter without onError prints whatever was thrown as a warning", async () => {
  const listeners = process.listeners("warning");
  process.removeAllListeners("warning");
  try {
    const warned = new Promise((resolve) => process.once("warning", resolve));
    reporter({}, undefined)(Object.create(null));
    await expect(warned).resolves.toMatchObject({ message: "[Object: null prototype] {}" });
  } finally {
    for (const each of listeners) process.on("warning", each);
  }
});

test("a server whose module cannot be loaded leaves no connection behind, also one that is still being made", async () => {
  let greet: (socket: Socket) => void = () => {};
  const greeted = new Promise<Socket>((resolve) => {
    greet = resolve;
  });
  const listener = createServer((socket) => {
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
    });
    greet(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listener.close());
  const servers = `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const source = new URL("./fixtures/absent.tasks.ts", import.meta.url);
  const options = { servers, module: "absent", pool: { size: 1 }, onError: () => {} };
  await expect(serveWith(source, options, systemClock)).rejects.toMatchObject({ name: "ClearwayError" });
  const socket = await greeted;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // The client has waited for this.
  socket.write('INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576}\r\n');
  await closed;
});

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
