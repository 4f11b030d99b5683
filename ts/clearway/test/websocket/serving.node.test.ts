// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebSocket } from "ws";
import { connect, type Endpoint } from "../../src/channel/endpoint/endpoint.js";
import type { ChannelTransport } from "../../src/channel/transport/transport.js";
import { writeHello } from "../../src/channel/wire/frame.js";
import { ClearwayError } from "../../src/error/clearway-error.js";
import { webSocketTransport } from "../../src/websocket.js";
import { Connections } from "../../src/websocket-server/connections.js";
import { serveWebSockets } from "../../src/websocket-server.js";
import { type Connected, channelTransportContract, Log, pattern, type Wanted } from "../channel/transports/contract.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import { optionSuite, refusalOf, refusalSuite } from "../fixtures/option-suite.js";
import { bare, client, closeOf, echoes, endOf, running, statusOf } from "./servers.js";
import { Unread } from "./unread-socket.js";

describe("a server's connection", () => {
  test("accepts a mark once, and refuses one that acknowledges nothing new", async () => {
    const { channels, logs } = await echoes();
    const socket = await bare(channels, ["clearway.channel.1"]);
    socket.send(pattern(92));
    socket.send("mark 100");
    socket.send("mark 100");
    expect(await closeOf(socket)).toBe(4002);
    expect(await endOf(logs)).toMatchObject({ code: "protocol" });
  });

  test("does not accumulate answers to marks and pings for a client that never reads", async () => {
    const transports: ChannelTransport[] = [];
    let socket: WebSocket | undefined;
    const listening = vi.spyOn(Connections.prototype, "add").mockImplementation(function (
      this: Connections,
      ws,
      ...more
    ) {
      socket = ws;
      listening.mockRestore();
      this.add(ws, ...more);
    });
    const log = new Log();
    const channels = await serveWebSockets({ windowBytes: 2000 }, (transport) => {
      transports.push(transport);
      transport.open(log);
    });
    running.push(channels);
    const client = await bare(channels, ["clearway.channel.1"]);
    client.pause();
    // More than the connection's buffers can hold, because the client reads nothing.
    for (let n = 0; n < 200; n++) transports[0]!.send(pattern(100_000));
    await expect.poll(() => socket!.bufferedAmount).toBeGreaterThan(2_000_000);
    const before = socket!.bufferedAmount;
    for (let n = 1; n <= 2000; n++) {
      client.send(new Uint8Array());
      client.send(`mark ${n * 8}`);
      client.ping("x".repeat(100));
    }
    await log.count(2000);
    expect(socket!.bufferedAmount).toBeLessThanOrEqual(before);
    client.terminate();
  });
});

describe("the server's function for connections", () => {
  /** Starts a server like the one in the documentation: its function awaits the hello. */
  async function documented(serve: (endpoint: Endpoint) => void = () => {}) {
    let tell = (_: unknown): void => {};
    const told = new Promise<unknown>((resolve) => {
      tell = resolve;
    });
    const channels = await serveWebSockets({ onError: (error) => tell(error) }, async (transport) => {
      serve(await connect(transport));
    });
    running.push(channels);
    return { channels, told };
  }

  test("has its rejection passed to onError when a client leaves before its hello", async () => {
    const { channels, told } = await documented();
    (await bare(channels)).terminate();
    expect(await told).toMatchObject({ code: "transport-closed", reason: { code: "lost" } });
  });

  test.each<[string, unknown]>([
    ["an Error", new Error("no database")],
    ["a string", "no database"],
  ])("closes the connection when it throws %s, without giving the client the reason", async (_, thrown) => {
    const { channels, told } = await documented(() => {
      throw thrown;
    });
    const { transport, log } = client(channels);
    transport.send(
      writeHello({ version: 1, wires: ["clearway"], frameBytesMax: 1 << 20, nameBytesMax: 255, callsMax: 9 }),
    );
    expect(await told).toBe(thrown);
    expect(await log.end()).toEqual({ code: "failed", message: "the server could not serve this connection" });
  });

  test("closes the connection when it throws synchronously, even when onError throws, too", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const thrown = new Error("onError itself");
    const onError = (): void => {
      throw thrown;
    };
    const channels = await serveWebSockets({ onError }, () => {
      throw new Error("at once");
    });
    running.push(channels);
    const { log } = client(channels);
    expect(await log.end()).toMatchObject({ code: "failed" });
    expect(printed.mock.calls).toEqual([["clearway/channel/websocket-server, onError threw:", thrown]]);
  });

  test("has its errors printed, except those that any client can cause", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const errors = [new ClearwayError("transport-closed", "left"), new ClearwayError("invalid-argument", "twice")];
    let calls = 0;
    const channels = await serveWebSockets({}, () => Promise.reject(errors[calls++]));
    running.push(channels);
    for (const _ of errors) await client(channels).log.end();
    expect(printed.mock.calls).toEqual([["clearway/channel/websocket-server:", errors[1]]]);
  });
});

describe("an error of a handler behind a WebSocket", () => {
  test.each([
    [false, undefined],
    [true, "Bearer x"],
  ])("crosses with its properties only when exposeErrors is set: %s", async (exposeErrors, authorization) => {
    const channels = await serveWebSockets({}, async (transport) => {
      const end = await connect(transport, exposeErrors ? { exposeErrors } : {});
      end.methods("m").handle({
        fails() {
          throw Object.assign(new Error("no answer"), { code: "E_HTTP", authorization: "Bearer x" });
        },
      });
    });
    running.push(channels);
    const end = await connect(webSocketTransport(channels.url, { token: channels.token ?? "", WebSocket }));
    const error = (await end
      .methods("m")
      .call("fails")
      .catch((reason) => reason)) as { code: string; cause?: { authorization: string } };
    expect([error.code, error.cause?.authorization]).toEqual(["E_HTTP", authorization]);
    end.terminate();
  });
});

test.each<[string, (link: { bytesRead: number; _handle: { writeQueueSize: number } }) => void]>([
  ["arrives", (link) => link.bytesRead++],
  ["leaves", (link) => link._handle.writeQueueSize++],
])(
  "a server keeps a connection on which a large message %s slowly, and ends it when no byte moves",
  async (_, move) => {
    useFakeTimers();
    const link = { bytesRead: 0, _handle: { writeQueueSize: 0 } };
    const aborted: unknown[] = [];
    const connections = new Connections(100);
    const transport = { abort: (reason: unknown) => aborted.push(reason) };
    connections.add(new Pinged() as never, transport as never, link as never);
    for (let n = 0; n < 50; n++) {
      move(link);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(aborted).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(aborted).toEqual([{ code: "timeout", message: "no answer to a ping within 100 ms" }]);
  },
);

/** A socket like those of the package `ws`, whose other end does what the test says. */
class Pinged extends Unread {
  pings = 0;
  isPaused = false;
  ended = false;
  readonly _socket = { bytesRead: 0, _handle: { writeQueueSize: 0 } };
  readonly #heard = new Map<string, () => void>();
  on(type: string, listener: () => void): void {
    this.#heard.set(type, listener);
  }
  hears(type: "ping" | "pong"): void {
    this.#heard.get(type)?.();
  }
  ping(): void {
    this.pings++;
  }
  terminate(): void {
    this.ended = true;
  }
}

function connected(socket: Unread, options: { pingMs?: number } = {}, fake?: Parameters<typeof useFakeTimers>[0]) {
  useFakeTimers(fake);
  const transport = webSocketTransport(socket, options);
  const closed: unknown[] = [];
  transport.open({ frame: () => {}, drained: () => {}, closed: (reason: unknown) => closed.push(reason) } as never);
  return { transport, closed };
}

describe("a client whose server has become silent", () => {
  test("closes with `lost` when nothing has arrived for an interval after a ping", async () => {
    const socket = new Pinged();
    const { closed } = connected(socket);
    await vi.advanceTimersByTimeAsync(29_999);
    expect({ pings: socket.pings, closed }).toEqual({ pings: 1, closed: [] });
    await vi.advanceTimersByTimeAsync(1);
    expect(closed).toEqual([{ code: "lost", message: "no answer to a ping within 15000 ms" }]);
    expect({ ended: socket.ended, timers: vi.getTimerCount() }).toEqual({ ended: true, timers: 0 });
  });

  test.each<[string, (socket: Pinged) => void]>([
    ["a pong", (socket) => socket.hears("pong")],
    ["a ping", (socket) => socket.hears("ping")],
    ["a message", (socket) => socket.arrives(new ArrayBuffer(1))],
    ["a byte of a message", (socket) => socket._socket.bytesRead++],
    ["room for a byte of its own large message", (socket) => socket._socket._handle.writeQueueSize++],
  ])("stays connected while %s arrives within each interval", async (_, arrive) => {
    const socket = new Pinged();
    const { closed } = connected(socket, { pingMs: 100 });
    for (let n = 0; n < 50; n++) {
      await vi.advanceTimersByTimeAsync(99);
      arrive(socket);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect({ pings: socket.pings, closed }).toEqual({ pings: 50, closed: [] });
  });

  test("stays connected when an answer has arrived that it has not read, because this thread was blocked", async () => {
    const socket = new Pinged();
    const { closed } = connected(socket, { pingMs: 100 }, { toFake: ["setInterval", "clearInterval"] });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(100);
    await turn();
    expect(socket.pings).toBe(1);
    vi.advanceTimersByTime(100);
    socket.hears("pong");
    await turn();
    expect({ pings: socket.pings, closed }).toEqual({ pings: 2, closed: [] });
  });

  test("waits while its own socket is paused, because it reads no answer then", async () => {
    const socket = new Pinged();
    const { closed } = connected(socket, { pingMs: 100 });
    socket.isPaused = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(closed).toEqual([]);
    socket.isPaused = false;
    await vi.advanceTimersByTimeAsync(200);
    expect(closed).toHaveLength(1);
  });

  test("closes with `lost` when its server has begun to close and does not finish", async () => {
    const socket = Object.assign(new Pinged(), { readyState: 2 });
    const { closed } = connected(socket, { pingMs: 100 });
    await vi.advanceTimersByTimeAsync(200);
    expect({ closed, ended: socket.ended }).toMatchObject({ closed: [{ code: "lost" }], ended: true });
  });

  test("has no timer if its socket cannot ping, as in a browser", () => {
    connected(new Unread());
    expect(vi.getTimerCount()).toBe(0);
  });
});

const limits = [
  ["frameBytesMax must be a whole number from 1 to 2147483647: frameBytesMax=0", { frameBytesMax: 0 }],
  ["windowBytes must be a number, 1 or more: windowBytes=NaN", { windowBytes: Number.NaN }],
] as const;

optionSuite({
  name: "serveWebSockets",
  act: async (options) => (await serveWebSockets(options as never, () => {})).close(),
  typo: ["origin", "origins"],
  option: "token",
  bad: [
    ...limits,
    ["server must be a server of node:http or node:https: server=5", { server: 5 }],
    ["server must be a server of node:http or node:https: server=[object]", { server: { on() {} } }],
    ["port must be a whole number from 0 to 65535: port=65536", { port: 65_536 }],
    ['port="80"', { port: "80" }],
    ['host must be an address, or a host name: host=""', { host: "" }],
    ["host=127", { host: 127 }],
    ['path must be a path such as "/channel": path="channel"', { path: "channel" }],
    ['path="/channel?a"', { path: "/channel?a" }],
    ["path=5", { path: 5 }],
    ['token must be a text that is not empty, a function or false: token=""', { token: "" }],
    ['token="number"', { token: 12_345 }],
    ['token="boolean"', { token: true }],
    ['origins must be an array of strings: origins="https://example.com"', { origins: "https://example.com" }],
    ["origins=[object]", { origins: ["https://example.com", 5] }],
    ["origins=[object]", { origins: new Set(["https://example.com"]) }],
    ["origins=null", { origins: null }],
    ["remote must be of type boolean: remote=1", { remote: 1 }],
    ['remote="false"', { remote: "false" }],
    ["connectionsMax must be a whole number from 1 to 2147483647: connectionsMax=0", { connectionsMax: 0 }],
    ["handshakeMs=1.5", { handshakeMs: 1.5 }],
    ["pingMs must be a whole number from 1", { pingMs: 0 }],
    ["pingMs=Infinity", { pingMs: Number.POSITIVE_INFINITY }],
    ["onError must be of type function: onError=3", { onError: 3 }],
  ],
});

const url = "ws://127.0.0.1:9/";

optionSuite({
  name: "webSocketTransport",
  act: (options) => {
    const transport = webSocketTransport(url, options as never);
    transport.open({ frame() {}, drained() {}, closed() {} });
    transport.close();
  },
  valid: { WebSocket },
  typo: ["openms", "openMs"],
  option: "openMs",
  bad: [
    ...limits,
    ["openMs must be a number from 1 to 2147483647: openMs=0", { openMs: 0 }],
    ['openMs="5"', { openMs: "5" }],
    ["WebSocket must be of type function: WebSocket=[object]", { WebSocket: {} }],
    ["token must be 1 to 2048 letters", { token: 5 }],
  ],
});

refusalSuite("an argument that is not an option", [
  ["target must be a URL or a WebSocket: target=5", () => webSocketTransport(5 as never)],
  ["target must be a URL or a WebSocket: target=null", () => webSocketTransport(null as never)],
  ["target must be a URL or a WebSocket: target=[object]", () => webSocketTransport({} as never)],
  ["onTransport must be a function: onTransport=undefined", () => serveWebSockets({}, undefined as never)],
]);

test("an error about a token does not contain the token", async () => {
  for (const act of [
    () => webSocketTransport(url, { WebSocket, token: "se cret" }),
    () => serveWebSockets({ token: ["se cret"] as never }, () => {}),
  ])
    expect((await refusalOf(act)).message).not.toContain("se cret");
});

test("a list of origins that changes later lets no other page in", async () => {
  const origins = ["https://example.com"];
  const { channels } = await echoes({ origins });
  origins.push("https://evil.example");
  expect(await statusOf(channels, { Origin: "https://evil.example" })).toBe(403);
  expect(await statusOf(channels, { Origin: "https://example.co" })).toBe(403);
  expect(await statusOf(channels, { Origin: "https://example.com" })).toBe(101);
});

/** Connects two ends over a real connection on this machine. */
async function connectedEnds(wanted: Wanted) {
  let met = (_: ChannelTransport): void => {};
  let cut = (): void => {};
  const meeting = new Promise<ChannelTransport>((resolve) => {
    met = resolve;
  });
  const channels = await serveWebSockets(wanted, (transport, request) => {
    cut = () => request.socket.resetAndDestroy();
    met(transport);
  });
  const socket = new WebSocket(channels.url, ["clearway.channel.1", `clearway.token.${channels.token}`]);
  const client = webSocketTransport(socket, wanted);
  return { client, server: await meeting, socket, cut: () => cut(), dispose: () => channels.close() };
}

channelTransportContract("websocket, the client's end", async (wanted): Promise<Connected> => {
  const { client, server, cut, dispose } = await connectedEnds(wanted);
  return { a: client, b: server, kill: cut, dispose };
});

channelTransportContract("websocket, the server's end", async (wanted): Promise<Connected> => {
  const { client, server, socket, dispose } = await connectedEnds(wanted);
  return { a: server, b: client, kill: () => socket.terminate(), dispose };
});
