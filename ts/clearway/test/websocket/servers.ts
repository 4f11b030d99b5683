// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { afterEach, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import type { ChannelTransport, CloseReason } from "../../src/channel/transport/transport.js";
import { webSocketTransport } from "../../src/websocket.js";
import type { WebSocketServerOptions } from "../../src/websocket-server/connections.js";
import { serveWebSockets, type WebSocketChannels } from "../../src/websocket-server.js";
import { Log } from "../channel/transports/contract.js";

/** Closed after each test. */
export const running: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.close();
});

/**
 * Starts an HTTP server, which ends with its test. Its own limits are a minute: Node's answer to a slow request must not come before that of
 * channels.
 */
export async function httpServer(answer?: RequestListener): Promise<Server> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

/** Starts a server that echoes, with logs of its ends. */
export async function echoes(options: WebSocketServerOptions = {}) {
  const logs: Log[] = [];
  const channels = await serveWebSockets(options, (transport: ChannelTransport) => {
    const log = new Log();
    logs.push(log);
    log.onFrame = (frame) => transport.send(frame.slice());
    transport.open(log);
  });
  running.push(channels);
  return { channels, logs };
}

export function client(channels: WebSocketChannels, token = channels.token) {
  const transport = webSocketTransport(channels.url, { ...(token !== undefined && { token }), WebSocket });
  const log = new Log();
  transport.open(log);
  running.push(transport);
  return { transport, log };
}

/** Opens a plain WebSocket to a server, without the library. */
export async function bare({ url, token }: WebSocketChannels, protocols: string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(url, protocols, { headers: { Authorization: `Bearer ${token}` } });
  await once(socket, "open");
  return socket;
}

/** Returns the HTTP status of a WebSocket handshake. */
export async function statusOf(
  { url, token }: WebSocketChannels,
  headers: Record<string, string> = {},
  path = "/",
): Promise<number> {
  const asked = httpRequest(new URL(path, url.replace("ws", "http")), {
    headers: {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Protocol": `clearway.channel.1, clearway.token.${token}`,
      ...headers,
    },
  });
  asked.end();
  const answer = await Promise.race([once(asked, "response"), once(asked, "upgrade")]);
  const [{ statusCode, socket }] = answer as [IncomingMessage];
  socket.destroy();
  return statusCode ?? 0;
}

export const closeOf = async (socket: WebSocket): Promise<number> => (await once(socket, "close"))[0] as number;
export const endOf = async (logs: Log[]): Promise<CloseReason> => (await logs[0]?.end()) as CloseReason;
