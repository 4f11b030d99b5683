// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect as netConnect, type Socket } from "node:net";
import { MessageChannel } from "node:worker_threads";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import type { ChannelTransport } from "../../src/channel/transport/transport.js";
import { webSocketTransport } from "../../src/websocket.js";
import { serveWebSockets } from "../../src/websocket-server.js";
import { Log, pattern } from "../channel/transports/contract.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { bare, client, closeOf, echoes, endOf, httpServer, statusOf } from "./servers.js";

describe("a server of channels", () => {
  test("listens on loopback only, with a random token, by default", async () => {
    const { channels } = await echoes();
    expect(channels.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/$/);
    expect(channels.token).toMatch(/^[\w-]{43}$/);
  });

  test("accepts a client with the token, counts it, and carries frames", async () => {
    const { channels } = await echoes();
    const { transport, log } = client(channels);
    transport.send(pattern(100_000)); // before the connection is open
    await log.count(1);
    expect(log.frames[0]).toEqual(pattern(100_000));
    expect(channels.connections).toBe(1);
  });

  test("refuses a client without the token or with a wrong one, before a connection exists", async () => {
    const { channels, logs } = await echoes();
    for (const token of ["wrong", undefined]) {
      const { log } = client({ ...channels, token: undefined }, token);
      expect(await log.end()).toMatchObject({ code: "refused", message: "Unexpected server response: 401" });
    }
    expect(logs).toEqual([]);
  });

  test("calls the app's function to check a token, and refuses the client when it rejects", async () => {
    const { channels } = await echoes({
      token: async (token) => {
        if (token === "broken") throw new Error("no database");
        return token === "good";
      },
    });
    const status = (token: string) => statusOf({ ...channels, token });
    expect([await status("good"), await status("bad"), await status("broken")]).toEqual([101, 401, 401]);
  });

  test("accepts every client on this machine when it has no token", async () => {
    const { channels } = await echoes({ token: false });
    expect(await statusOf(channels, { "Sec-WebSocket-Protocol": "clearway.channel.1" })).toBe(101);
  });

  test("refuses pages of other origins, also under a foreign name that resolves to this machine", async () => {
    const { channels } = await echoes();
    const { host, port } = new URL(channels.url);
    const status = (Origin: string, Host = host) => statusOf(channels, { Origin, Host });
    expect(await status(`http://${host}`)).toBe(101);
    expect(await status(`http://localhost:${port}`, `localhost:${port}`)).toBe(101);
    expect(await status("http://127.0.0.1:1")).toBe(403);
    expect(await status("https://example.com")).toBe(403);
    expect(await status("null")).toBe(403);
    expect(await status(`http://evil.example:${port}`, `evil.example:${port}`)).toBe(403);
  });

  test("accepts only pages of the given origins", async () => {
    const { channels } = await echoes({ origins: ["https://example.com"] });
    const { host } = new URL(channels.url);
    expect(await statusOf(channels, { Origin: "https://example.com" })).toBe(101);
    expect(await statusOf(channels, { Origin: "https://example.com.evil.example" })).toBe(403);
    expect(await statusOf(channels, { Origin: `http://${host}` })).toBe(403);
  });

  test("refuses another path, and connections above connectionsMax", async () => {
    const { channels, logs } = await echoes({ connectionsMax: 1 });
    expect(await statusOf(channels, {}, "/other")).toBe(404);
    const { transport, log } = client(channels);
    transport.send(pattern(1));
    await log.count(1);
    expect(await statusOf(channels)).toBe(503);
    transport.close();
    await endOf(logs);
    expect(await statusOf(channels)).toBe(101);
  });

  test("closes the connection as soon as a frame over its limit is announced, and gives both endpoints the reason", async () => {
    const { channels, logs } = await echoes({ frameBytesMax: 1000 });
    const socket = await bare(channels);
    socket.send(pattern(1001));
    expect(await closeOf(socket)).toBe(1009);
    expect(await endOf(logs)).toMatchObject({ code: "too-large" });
  });

  test("refuses a fragmented frame over its limit, and accepts one within it", async () => {
    const { channels, logs } = await echoes({ frameBytesMax: 1000 });
    const socket = await bare(channels);
    for (const fin of [false, false, true]) socket.send(pattern(300), { fin });
    await once(socket, "message");
    expect(logs[0]?.frames[0]).toHaveLength(900);
    for (const fin of [false, false, false, true]) socket.send(pattern(300), { fin });
    expect(await closeOf(socket)).toBe(1009);
    expect(await endOf(logs)).toMatchObject({ code: "too-large" });
  });

  test("accepts no text from a foreign endpoint, and only marks from a Clearway endpoint", async () => {
    for (const protocols of [[], ["clearway.channel.1"]]) {
      for (const text of ["hello", "mark 77", "taken 1"]) {
        const { channels, logs } = await echoes();
        const socket = await bare(channels, protocols);
        socket.send(text);
        expect(await closeOf(socket)).toBe(4002);
        expect(await endOf(logs)).toMatchObject({
          code: "protocol",
          message: `text where bytes were expected: "${text}"`,
        });
      }
    }
  });

  test("closes a connection with invalid WebSocket bytes", async () => {
    const { channels, logs } = await echoes();
    const socket = await bare(channels);
    const { _socket: below } = socket as unknown as { _socket: import("node:net").Socket };
    below.write(Buffer.from("GET / HTTP/1.1\r\n\r\n"));
    expect(await closeOf(socket)).toBe(1002);
    expect(await endOf(logs)).toMatchObject({ code: "protocol" });
  });

  test.each([
    ["sends Close", [0x88, 0x80, 0, 0, 0, 0], "lost"],
    ["breaks the protocol", [0xff, 0x80, 0, 0, 0, 0], "protocol"],
  ])("closes a connection 5 s after its client %s and keeps the socket open", async (_, bytes, code) => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { channels, logs } = await echoes({ token: false });
    const socket = netConnect({ port: Number(new URL(channels.url).port), host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${key}\r\n\r\n`);
    await once(socket, "data");
    socket.on("data", () => {}).write(Buffer.from(bytes));
    await once(socket, "end"); // the server has ended its side
    await vi.advanceTimersByTimeAsync(5000);
    expect(await endOf(logs)).toMatchObject({ code });
    await channels.close();
    expect(channels.connections).toBe(0);
  });

  test("closes a connection that does not answer a ping, and keeps one that does", async () => {
    useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { channels, logs } = await echoes({ pingMs: 60 });
    const deaf = await bare(channels);
    deaf.pause(); // open, but reads nothing and so answers no ping
    const { transport, log } = client(channels);
    transport.send(pattern(1));
    await log.count(1);
    vi.advanceTimersByTime(60); // pings both
    transport.send(pattern(2));
    await log.count(2);
    vi.advanceTimersByTime(60);
    expect(await endOf(logs)).toEqual({ code: "timeout", message: "no answer to a ping within 60 ms" });
    transport.send(pattern(3));
    await log.count(3);
    expect(channels.connections).toBe(1);
    deaf.terminate();
  });

  test("gives every endpoint the reason on close(), and refuses later connections", async () => {
    const { channels } = await echoes();
    const { transport, log } = client(channels);
    transport.send(pattern(9));
    await log.count(1);
    await channels.close();
    expect(await log.end()).toMatchObject({ code: "closed", message: "the server closes" });
    const { log: late } = client(channels);
    expect(await late.end()).toMatchObject({ code: "failed", cause: { code: "ECONNREFUSED" } });
    await channels.close();
  });

  test("delivers all sent frames on close() to a client that reads late, and then the reason", async () => {
    // The limit on the time for closing must not depend on this machine's speed.
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const sizes = Array.from({ length: 40 }, (_, at) => 200_000 + at);
    const ends: [ChannelTransport, Socket][] = [];
    const channels = await serveWebSockets({}, (transport, { socket }) => {
      transport.open(new Log());
      ends.push([transport, socket]);
    });
    const socket = await bare(channels, ["clearway.channel.1"]);
    socket.pause();
    const [[server, connection]] = ends as [[ChannelTransport, Socket]];
    for (const size of sizes) server.send(pattern(size, size));
    const closed = channels.close();
    // The connection itself holds less than these frames while the client reads nothing.
    expect(connection.writableLength).toBeGreaterThan(sizes[0]!);
    const transport = webSocketTransport(socket);
    const log = new Log();
    transport.open(log);
    socket.resume();
    expect(await log.end()).toMatchObject({ code: "closed", message: "the server closes" });
    expect(log.frames.map(({ length }) => length)).toEqual(sizes);
    for (const frame of log.frames) expect(Buffer.compare(frame, pattern(frame.length, frame.length))).toBe(0);
    await closed;
  });

  test("can be attached to the app's server at a path, and leaves that server open and without listeners", async () => {
    const server = await httpServer((_, response) => response.end("page"));
    const { channels } = await echoes({ server, path: "/channel" });
    expect(await statusOf(channels, {}, "/channel")).toBe(101);
    expect(await statusOf(channels, {}, "/other")).toBe(404);
    expect(await (await fetch(channels.url.replace("ws", "http"))).text()).toBe("page");
    await channels.close();
    expect([server.listening, server.listenerCount("upgrade")]).toEqual([true, 0]);
  });

  test("names the address of the app's server, also of one that listens later or speaks TLS", async () => {
    const later = createHttpServer();
    const { channels } = await echoes({ server: later });
    expect(channels.url).toBe("ws://127.0.0.1:0/");
    await once(later.listen(0, "127.0.0.1"), "listening");
    const { port } = later.address() as AddressInfo;
    expect(channels.url).toBe(`ws://127.0.0.1:${port}/`);
    const server = Object.assign(createHttpsServer(), { address: () => ({ address: "::1", port: 443 }) });
    expect((await echoes({ server, path: "/c" })).channels.url).toBe("wss://[::1]:443/c");
    later.close();
  });

  test("can share the app's server with another server of channels, and an unknown path is refused once", async () => {
    const server = await httpServer();
    const one = (await echoes({ server, path: "/one", token: false })).channels;
    const two = (await echoes({ server, path: "/two", token: false })).channels;
    expect(await statusOf(one, {}, "/one")).toBe(101);
    expect(await statusOf(two, {}, "/two")).toBe(101);
    expect(await statusOf(one, {}, "/three")).toBe(404);
    await expect(serveWebSockets({ server, path: "/one" }, () => {})).rejects.toThrow(
      'path must be free on this server: path="/one"',
    );
    // With a listener of the app on the server, any path may be the app's.
    server.on("upgrade", ({ url }, socket) => {
      if (url === "/three") socket.end("HTTP/1.1 418 I'm a teapot\r\n\r\n");
    });
    expect(await statusOf(one, {}, "/three")).toBe(418);
    await one.close();
    await two.close();
    expect(server.listenerCount("upgrade")).toBe(1);
  });

  test("accepts another client after a token check has exceeded its time limit", async () => {
    const { channels } = await echoes({
      server: await httpServer(),
      connectionsMax: 1,
      handshakeMs: 30,
      token: (token) => (token === "never" ? new Promise<boolean>(() => {}) : true),
    });
    expect(await statusOf({ ...channels, token: "never" })).toBe(408);
    expect(await statusOf({ ...channels, token: "good" })).toBe(101);
  });

  test("counts a token check that exceeds its time limit against connectionsMax until the check has ended", async () => {
    const checks: ((right: boolean) => void)[] = [];
    let most = 0;
    const { channels } = await echoes({
      server: await httpServer(),
      connectionsMax: 1,
      handshakeMs: 30,
      token: (token) => {
        if (token === "good") return true;
        most = Math.max(most, checks.length + 1);
        return new Promise<boolean>((resolve) => checks.push(resolve));
      },
    });
    const slow = { ...channels, token: "slow" };
    expect([await statusOf(slow), await statusOf(slow)]).toEqual([408, 408]);
    // Two checks still run: the limit.
    for (let n = 0; n < 5; n++) expect(await statusOf(slow)).toBe(503);
    expect(most).toBe(2);
    checks.shift()!(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await statusOf({ ...channels, token: "good" })).toBe(101);
    checks.shift()!(false);
  });

  test("aborts the signal of a token's check at its time limit", async () => {
    const reasons: unknown[] = [];
    const { channels } = await echoes({
      server: await httpServer(),
      handshakeMs: 30,
      token: (_token, _request, signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            reasons.push(signal.reason.code);
            resolve(true);
          });
        }),
    });
    expect(await statusOf({ ...channels, token: "late" })).toBe(408);
    expect(reasons).toEqual(["timeout"]);
  });

  test("accepts a token whose check has ended within handshakeMs, although this thread was blocked meanwhile", async () => {
    const { channels } = await echoes({
      server: await httpServer(),
      handshakeMs: 30,
      token: () =>
        new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.on("message", () => resolve(true));
          port1.unref();
          setImmediate(() => {
            port2.postMessage(null);
            // In the next turn, timers are called before the message is read.
            const end = performance.now() + 40;
            while (performance.now() < end);
          });
        }),
    });
    expect(await statusOf({ ...channels, token: "good" })).toBe(101);
  });

  test("settles every one of several close() calls", async () => {
    const { channels } = await echoes();
    const { transport, log } = client(channels);
    transport.send(pattern(1));
    await log.count(1);
    await Promise.all([channels.close(), channels.close(), channels[Symbol.asyncDispose]()]);
    expect(channels.connections).toBe(0);
    await channels.close();
  });
});

describe("a client", () => {
  test("times out when the server does not answer", async () => {
    const server = await httpServer();
    server.on("upgrade", () => {});
    const { port } = server.address() as { port: number };
    const log = new Log();
    webSocketTransport(`ws://127.0.0.1:${port}/`, { WebSocket, openMs: 50 }).open(log);
    expect(await log.end()).toEqual({ code: "timeout", message: "the connection was not open after 50 ms" });
  });

  test("delivers frames that were sent before it was open, even when it is closed before", async () => {
    const { channels, logs } = await echoes();
    const { transport } = client(channels);
    transport.send(pattern(5));
    transport.close({ code: "closed", message: "in a hurry" });
    await expect.poll(() => logs.length).toBe(1);
    expect(await endOf(logs)).toEqual({ code: "closed", message: "in a hurry" });
    expect(logs[0]?.frames).toEqual([pattern(5)]);
  });

  test("gets back-pressure from the socket's buffers when the other endpoint is foreign", async () => {
    const { channels, logs } = await echoes();
    const log = new Log();
    const socket = await bare(channels);
    const transport = webSocketTransport(socket, { windowBytes: 100_000 });
    transport.open(log);
    let sent = 1;
    for (; transport.send(pattern(50_000, sent)); sent++);
    await log.until(() => log.drains === 1);
    await log.count(sent);
    expect(logs[0]?.frames).toHaveLength(sent);
    transport.close();
  });
});
