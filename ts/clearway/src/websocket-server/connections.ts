// SPDX-License-Identifier: MIT OR Apache-2.0

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { WebSocket } from "ws";
import { type CloseReason, type TransportLimits, transportOptions } from "../channel/transport/transport.js";
import { type Rules as OptionRules, type Test, wholeFrom } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import { clearInterval, OwnPromise, setImmediate, setInterval, type Timer } from "../globals.js";
import { type Link, movement, offeredToken } from "../websocket/socket.js";
import type { SocketTransport } from "../websocket/socket-transport.js";

export interface WebSocketServerOptions extends TransportLimits {
  /** An existing server to attach to. Default: a new server, on `host` and `port`. */
  readonly server?: Pick<Server, "on" | "off" | "listeners" | "address"> | undefined;
  /** Port of the new server. Default: 0, which means any free port. */
  readonly port?: number | undefined;
  /** Address of the new server. Default: 127.0.0.1, which other machines cannot reach. */
  readonly host?: string | undefined;
  /** Path of the channel. Default: "/". */
  readonly path?: string | undefined;
  /**
   * The token that a client must send, or a function that checks the client's token. If the function's promise rejects, the
   * client is refused. Default: a random token, which is the result's `token`. False: no token is needed, so every program on
   * this machine may connect.
   */
  readonly token?: string | CheckToken | false | undefined;
  /**
   * Origins whose pages may connect, such as "https://example.com". Default: the server's own origin, if its host name is a
   * loopback name. Programs other than browsers send no origin. The token protects against such programs.
   */
  readonly origins?: readonly string[] | undefined;
  /** Whether other machines may connect. If true, put TLS in front of the server. Default: false. */
  readonly remote?: boolean | undefined;
  /** Maximum number of connections at the same time. Default: 64. */
  readonly connectionsMax?: number | undefined;
  /** Maximum time to accept a client, including the check of its token, in milliseconds. Default: 10,000. */
  readonly handshakeMs?: number | undefined;
  /**
   * Interval of pings, in milliseconds. The server ends a connection that sends nothing for one interval after a ping, unless bytes of a large
   * message move. Default: 15,000.
   */
  readonly pingMs?: number | undefined;
  /**
   * Called with an error of the function that serves a connection. Default: `console.error`, except for errors that any client
   * can cause. These have the codes `transport-closed` (the client left before its hello), `deadline` (it sent no hello in
   * time) and `protocol` (it sent something else).
   */
  readonly onError?: ((error: unknown, request: IncomingMessage) => void) | undefined;
}

/** The options with defaults filled in. */
export interface ServerRules extends Required<TransportLimits>, Rules {
  readonly server: WebSocketServerOptions["server"];
  readonly host: string;
  readonly port: number;
  readonly handshakeMs: number;
  readonly pingMs: number;
  readonly onError: WebSocketServerOptions["onError"];
}

const positive: Test = (value) => wholeFrom(value, 1, 0x7fff_ffff);

const optionRules: OptionRules = {
  server: (value) =>
    ["on", "off", "listeners", "address"].every(
      (name) => typeof (value as Record<string, unknown> | null)?.[name] === "function",
    ) || "a server of node:http or node:https",
  port: (value) => wholeFrom(value, 0, 65_535),
  // With an empty address, Node would listen on every address of this machine.
  host: (value) => (typeof value === "string" && value !== "") || "an address, or a host name",
  path: (value) => (typeof value === "string" && /^\/[^?]*$/.test(value)) || 'a path such as "/channel"',
  // Checked below, because an error must not contain the token.
  token: () => true,
  // A single text must not pass as a list: `includes` of a text accepts every part of the text.
  origins: (value) =>
    (Array.isArray(value) && value.every((each) => typeof each === "string")) || "an array of strings",
  remote: "boolean",
  connectionsMax: positive,
  handshakeMs: positive,
  pingMs: positive,
  onError: "function",
};

const defaults = {
  host: "127.0.0.1",
  port: 0,
  path: "/",
  remote: false,
  connectionsMax: 64,
  handshakeMs: 10_000,
  pingMs: 15_000,
};

/** Returns the options with defaults filled in. Throws `invalid-argument` for an option that is not valid. */
export function serverOptions(given: WebSocketServerOptions): ServerRules {
  const options = transportOptions(given, optionRules, defaults);
  const { server, origins, onError, token = randomToken() } = options;
  if (token === "" || (!["string", "function"].includes(typeof token) && token !== false))
    throw invalid("token", "a text that is not empty, a function or false", token === "" ? token : typeof token);
  return {
    ...(options as typeof options & typeof defaults),
    server,
    token,
    // A copy, because the caller may change its list.
    origins: origins?.slice(),
    onError,
  };
}

/** Returns a token of 256 random bits, which cannot be guessed. */
function randomToken(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * Compares two tokens. The time that this takes reveals neither the position of a difference nor the length of the right token.
 */
function sameToken(given: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(right));
}

// A page of any site can open a WebSocket to this machine, and the browser sends this machine's cookies with the request. Only
// the header `Origin` identifies such a page, and pages cannot forge it. Programs other than browsers send no origin, or any
// origin. The token protects against such programs.

/** Returns whether a host name or an address, as written in a URL, is a loopback name. */
function isLoopbackName(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
}

/** Returns whether a socket's address is a loopback address. */
function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i.test(address);
}

/**
 * Returns whether a page of this origin may connect. A request without an origin may connect, because it does not come from a
 * page. If there is a list, only the list decides. Otherwise the origin must be the server's own (`host` is the header of the
 * request), and its name must be a loopback name. The second condition stops DNS rebinding: a site whose name points to this
 * machine sends its own name as origin and as host.
 */
function originAllowed(
  origin: string | undefined,
  host: string | undefined,
  list: readonly string[] | undefined,
): boolean {
  if (origin === undefined) return true;
  if (list !== undefined) return list.includes(origin);
  let url: URL;
  try {
    url = new URL(origin);
  } catch {
    return false; // the origin is "null": a file or a sandboxed frame
  }
  return url.host === host?.toLowerCase() && isLoopbackName(url.hostname);
}

/**
 * A function of the application that checks a token, for example in a database. `signal` aborts when `handshakeMs` is over.
 * Pass the signal on. A check that ignores the signal counts against the limit of running checks until it settles.
 */
export type CheckToken = (token: string, request: IncomingMessage, signal: AbortSignal) => boolean | Promise<boolean>;

/** The rules for accepting a request. */
export interface Rules {
  readonly path: string;
  /** The token, or a function that checks a token. False: no token is needed. */
  readonly token: string | CheckToken | false;
  readonly origins: readonly string[] | undefined;
  readonly remote: boolean;
  readonly connectionsMax: number;
}

/** Connections and checks at the time when a request arrives. */
interface Usage {
  /** Number of open connections, and of requests that are not answered yet. */
  readonly connections: number;
  /** Number of checks that have not settled. It includes checks that took too long, although their request was answered. */
  readonly checks: number;
}

/** A refusal, as an HTTP status and a sentence. */
export type Refusal = readonly [status: number, why: string];

/**
 * Checks a request to connect. Returns undefined if it accepts the request, else the refusal. Cheap checks come first. During
 * the checks, the server keeps nothing of the connection except its socket.
 */
export async function authorize(
  request: IncomingMessage,
  { connections, checks }: Usage,
  rules: Rules,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  const { headers, socket } = request;
  if (pathOf(request) !== rules.path) return [404, "no channel here"];
  if (!rules.remote && !isLoopbackAddress(socket.remoteAddress)) return [403, "from this machine only"];
  if (!originAllowed(headers.origin, headers.host, rules.origins)) return [403, "pages of this origin may not connect"];
  if (connections >= rules.connectionsMax) return [503, "too many connections"];
  if (rules.token === false) return undefined;
  const token = tokenOf(request);
  if (token === undefined) return [401, "a token is needed"];
  if (typeof rules.token === "string") return sameToken(token, rules.token) ? undefined : wrongToken;
  // A check that hangs stops counting as a connection after the time limit. This second limit keeps a client from starting any
  // number of checks.
  if (checks >= rules.connectionsMax * 2) return [503, "too many tokens are being checked"];
  return (await rules.token(token, request, signal)) === true ? undefined : wrongToken;
}

const wrongToken: Refusal = [401, "the token is wrong"];

/** Returns the requested path, without its query. */
export function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

// Returns a request's token. A page can only set the header of the subprotocols. Other programs may send the header
// `Authorization`.
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
  return offeredToken(offered) ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}

interface Connection {
  readonly transport: SocketTransport;
  /** Whether a message, a ping or a pong has arrived since the last check. */
  alive: boolean;
  /** Returns whether bytes have moved since the last check. */
  readonly moved: () => boolean;
}

// If more bytes than this wait to be sent, a ping is not answered. The pong would arrive too late to be useful.
const pongBytesMax = 1 << 20;

/** The open connections. Sends a ping over each connection, and aborts a connection that does not answer. */
export class Connections {
  readonly #open = new Map<WebSocket, Connection>();
  readonly #pingMs: number;
  #timer: Timer | undefined;
  #emptied: (() => void)[] = [];

  constructor(pingMs: number) {
    this.#pingMs = pingMs;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: WebSocket, transport: SocketTransport, link: Link): void {
    const connection = { transport, alive: true, moved: movement(() => link) };
    const alive = (): void => {
      connection.alive = true;
    };
    this.#open.set(socket, connection);
    this.#timer ??= setInterval(() => this.#checkConnections(), this.#pingMs);
    socket.on("pong", alive);
    socket.on("message", alive);
    // The option `autoPong` of `ws` is off: answers to a client that sends pings and never reads would fill the memory.
    socket.on("ping", (data) => {
      alive();
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < pongBytesMax) socket.pong(data);
    });
    socket.on("close", () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      for (const each of this.#emptied.splice(0)) each();
    });
  }

  /** Closes all connections. Settles when no connection is left. */
  async close(reason: CloseReason): Promise<void> {
    if (this.#open.size === 0) return;
    const emptied = new OwnPromise<void>((resolve) => this.#emptied.push(resolve));
    for (const { transport } of this.#open.values()) transport.close(reason);
    await emptied;
  }

  #checkConnections(): void {
    for (const [socket, connection] of this.#open) {
      if (connection.moved() || connection.alive) this.#ping(socket, connection);
      // If this thread was blocked, messages may wait that it has not read yet. They are read before `setImmediate` calls back.
      else setImmediate(() => this.#abortIfSilent(socket, connection));
    }
  }

  #abortIfSilent(socket: WebSocket, connection: Connection): void {
    // A paused socket does not read pongs, so a missing pong does not mean that the client is gone.
    if (connection.moved() || connection.alive || socket.isPaused) return this.#ping(socket, connection);
    connection.transport.abort({ code: "timeout", message: `no answer to a ping within ${this.#pingMs} ms` });
  }

  #ping(socket: WebSocket, connection: Connection): void {
    connection.alive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }
}
