// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Connects channels over WebSockets, as the server. Node only. Needs the package `ws`.
 *
 * @module clearway/channel/websocket-server
 */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { ChannelTransport } from "./channel/transport/transport.js";
import { callable } from "./error/checked.js";
import { ClearwayError, invalid } from "./error/clearway-error.js";
import { newAbortController, OwnPromise } from "./globals.js";
import { within } from "./lazy/lazy.js";
import { type Link, subprotocol } from "./websocket/socket.js";
import { SocketTransport } from "./websocket/socket-transport.js";
import {
  authorize,
  Connections,
  pathOf,
  type Refusal,
  type ServerRules,
  serverOptions,
  type WebSocketServerOptions,
} from "./websocket-server/connections.js";

export type {
  ChannelSink,
  ChannelTransport,
  CloseCode,
  CloseReason,
  TransportLimits,
} from "./channel/transport/transport.js";
export type { CheckToken, WebSocketServerOptions } from "./websocket-server/connections.js";

type OnError = (error: unknown, request: IncomingMessage) => void;

// Codes of errors that any client can cause. Without `onError` they are not logged, so that a client cannot fill this machine's
// log.
const clientCodes = ["transport-closed", "deadline", "protocol"];

/** Passes an error to `onError`, or to the console if `onError` is not given. Never throws. */
function reportError(onError: OnError | undefined, error: unknown, request: IncomingMessage): void {
  try {
    if (onError) return onError(error, request);
    if (error instanceof ClearwayError && clientCodes.includes(error.code)) return;
    console.error("clearway/channel/websocket-server:", error);
  } catch (thrown) {
    console.error("clearway/channel/websocket-server, onError threw:", thrown);
  }
}

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => unknown;
type Upgradable = Pick<Server, "on" | "off" | "listeners">;

// Key under which a listener of Clearway stores its path. The other listeners of Clearway on the same server read it, including
// listeners of another copy of the library.
const pathKey = Symbol.for("clearway.channel.websocketPath");

interface Ours {
  [pathKey]?: string;
}

/** Adds a listener for a server's upgrades at a path. Throws `invalid-argument` if another channel server has that path. */
function attach(server: Upgradable, upgrade: Upgrade, path: string): void {
  for (const each of server.listeners("upgrade"))
    if ((each as Ours)[pathKey] === path) throw invalid("path", "free on this server", path);
  server.on("upgrade", Object.assign(upgrade, { [pathKey]: path }));
}

/**
 * Returns whether this listener must answer a request for a path. It must answer for its own path. If all listeners are
 * Clearway's, the first listener also answers for paths that no listener has, to refuse them. Listeners of other code may
 * handle any path.
 */
function isFor(server: Upgradable, upgrade: Upgrade, path: string): boolean {
  if ((upgrade as Ours)[pathKey] === path) return true;
  const all = server.listeners("upgrade") as Ours[];
  return all[0] === upgrade && all.every((each) => each[pathKey] !== undefined && each[pathKey] !== path);
}

/** A running server of channels. */
export interface WebSocketChannels extends AsyncDisposable {
  /** URL that clients connect to. Example: "ws://127.0.0.1:40123/". Its port is 0 while a server that was passed in does not listen. */
  readonly url: string;
  /** The token that clients must send. Undefined if a function checks tokens, or if no token is needed. */
  readonly token: string | undefined;
  /** Number of open connections. */
  readonly connections: number;
  /**
   * Accepts no more connections and closes the open connections. Settles when all have ended. Does not close a server that was
   * passed in.
   */
  close(): Promise<void>;
}

/**
 * Serves an accepted connection. Until it opens the transport, back-pressure slows the sender down. The function may be async.
 * If it throws or rejects, the server closes the connection with `failed` and passes the error to `onError`.
 */
export type OnTransport = (transport: ChannelTransport, request: IncomingMessage) => unknown;

// Room for a control message ("taken 9007199254740991"), in bytes. It is needed even if the frame limit is lower.
const controlBytes = 64;

/**
 * Serves channels over WebSockets, with the package `ws`. By default it accepts only connections from this machine, only
 * clients with the token, and only pages of its own origin. It refuses a client with an HTTP status, before the WebSocket is
 * open. It refuses a message over `frameBytesMax` as soon as the message's size is announced. See {@link
 * WebSocketServerOptions} for the options, and `webSocketTransport` for back-pressure and close reasons.
 *
 * Throws `invalid-argument`, `missing-package` if `ws` is not installed, and Node's error for a port in use.
 */
export async function serveWebSockets(
  options: WebSocketServerOptions,
  onTransport: OnTransport,
): Promise<WebSocketChannels> {
  const rules = serverOptions(options);
  callable("onTransport", onTransport);
  const { WebSocketServer } = await loadWs();
  const { frameBytesMax, handshakeMs } = rules;
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: Math.max(frameBytesMax, controlBytes),
    // Compression is off. The data in a frame is often compressed already, and compressing takes more time than smaller
    // messages save. Without compression, a message's announced size is its real size, so a compression bomb is refused.
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
  const connections = new Connections(rules.pingMs);
  let pendingRequests = 0;
  let checks = 0;
  let closing: Promise<void> | undefined;

  const accept = async (transport: SocketTransport, request: IncomingMessage): Promise<void> => {
    try {
      await onTransport(transport, request);
    } catch (error) {
      // The client receives only the fact that the server failed. The error itself goes to this machine's log.
      transport.close({ code: "failed", message: "the server could not serve this connection" });
      reportError(rules.onError, error, request);
    }
  };

  // Checks a request. The request counts as a connection until its check settles or times out, even after the client has disconnected. A
  // check that runs longer than the time limit still counts as a running check.
  const checkRequest = async (request: IncomingMessage): Promise<Refusal | undefined> => {
    const controller = newAbortController();
    const check = authorize(
      request,
      { connections: connections.size + pendingRequests, checks },
      rules,
      controller.signal,
    );
    pendingRequests++;
    checks++;
    const ended = (): void => void checks--;
    try {
      if (await within(check.then(ended, ended), handshakeMs)) return await check;
      controller.abort(new ClearwayError("timeout", `the check of a token took more than ${handshakeMs} ms`));
      return [408, "it took too long"];
    } catch {
      return [401, "the token could not be checked"];
    } finally {
      pendingRequests--;
    }
  };

  const upgrade = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    if (rules.server && !isFor(rules.server, upgrade, pathOf(request))) return;
    const ignore = (): void => {};
    socket.on("error", ignore);
    const refusal = closing ? ([503, "closing"] as const) : await checkRequest(request);
    if (refusal) return refuse(socket, refusal);
    if (socket.destroyed || socket.writableEnded) return;
    if (closing) return refuse(socket, [503, "closing"]);
    socket.off("error", ignore);
    try {
      sockets.handleUpgrade(request, socket, head, (opened) => {
        const transport = new SocketTransport(opened, rules);
        connections.add(opened, transport, socket as Link);
        // `ws` ends its side of the socket when the client begins to close or breaks the protocol, and reports that only once both sides have ended.
        socket.once("finish", () => transport.limitClose());
        void accept(transport, request);
      });
    } catch (error) {
      // A listener of other code has already taken the socket, and owns it.
      reportError(rules.onError, error, request);
    }
  };

  const own = rules.server ? undefined : await listening(rules);
  const server = rules.server ?? (own as Server);
  attach(server, upgrade, rules.path);
  const ownUrl = own && urlOf(own, rules);
  const shut = async (): Promise<void> => {
    await connections.close({ code: "closed", message: "the server closes" });
    server.off("upgrade", upgrade);
    own?.closeAllConnections();
    if (own?.listening) await new OwnPromise((resolve) => own.close(resolve));
  };
  const close = (): Promise<void> => {
    closing ??= shut();
    return closing;
  };
  return {
    get url() {
      return ownUrl ?? urlOf(server, rules);
    },
    token: typeof rules.token === "string" ? rules.token : undefined,
    get connections() {
      return connections.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Starts an HTTP server that accepts only upgrades. Node closes connections that send no request within the timeout. */
async function listening({ host, port, handshakeMs, connectionsMax }: ServerRules): Promise<Server> {
  const times = { headersTimeout: handshakeMs, requestTimeout: handshakeMs, connectionsCheckingInterval: handshakeMs };
  const server = createServer(times, (_, response) => {
    response.writeHead(426, { Connection: "close", "Content-Type": "text/plain" }).end("a WebSocket is wanted\n");
  });
  // Room for the accepted connections, and for the same number of connections that are being checked.
  server.maxConnections = connectionsMax * 2;
  server.listen(port, host);
  await once(server, "listening");
  return server;
}

function refuse(socket: Duplex, [status, why]: Refusal): void {
  if (socket.destroyed || socket.writableEnded) return;
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, "Connection: close", "Content-Type: text/plain"];
  socket.once("finish", () => socket.destroy());
  socket.end([...head, `Content-Length: ${why.length}`, "", why].join("\r\n"));
}

function urlOf(server: Pick<Server, "address">, rules: ServerRules): string {
  const { address = "", port = 0 } = Object(server.address()) as Partial<AddressInfo>;
  // A server that listens on every address is reached by the loopback address, too.
  const host = rules.server && !["", "::", "0.0.0.0"].includes(address) ? address : rules.host;
  const name = host.includes(":") ? `[${host}]` : host;
  const secure = "setSecureContext" in server; // only servers of `node:tls` and `node:https` have it
  return `${secure ? "wss" : "ws"}://${name}:${port}${rules.path}`;
}

async function loadWs(): Promise<typeof import("ws")> {
  try {
    return await import("ws");
  } catch (cause) {
    throw new ClearwayError(
      "missing-package",
      "channels over WebSockets are served by the package ws: npm install ws",
      { cause },
    );
  }
}
