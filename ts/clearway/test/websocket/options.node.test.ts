// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { ChannelTransport } from "../../src/channel/transport/transport.js";
import { webSocketTransport } from "../../src/websocket.js";
import { serveWebSockets } from "../../src/websocket-server.js";
import { type Connected, channelTransportContract, type Wanted } from "../channel/transports/contract.js";
import { optionSuite, refusalOf } from "../fixtures/option-suite.js";
import { echoes, statusOf } from "./servers.js";

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

describe("an argument that is not an option", () => {
  test.each<[shown: string, act: () => unknown]>([
    ["target must be a URL or a WebSocket: target=5", () => webSocketTransport(5 as never)],
    ["target must be a URL or a WebSocket: target=null", () => webSocketTransport(null as never)],
    ["target must be a URL or a WebSocket: target=[object]", () => webSocketTransport({} as never)],
    ["onTransport must be a function: onTransport=undefined", () => serveWebSockets({}, undefined as never)],
  ])("is refused with its value: %s", async (shown, act) => {
    const reason = await refusalOf(act);
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });
});

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
async function connected(wanted: Wanted) {
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
  const { client, server, cut, dispose } = await connected(wanted);
  return { a: client, b: server, kill: cut, dispose };
});

channelTransportContract("websocket, the server's end", async (wanted): Promise<Connected> => {
  const { client, server, socket, dispose } = await connected(wanted);
  return { a: server, b: client, kill: () => socket.terminate(), dispose };
});
