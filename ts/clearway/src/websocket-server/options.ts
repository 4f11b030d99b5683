// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, Server } from "node:http";
import { type TransportLimits, transportOptions } from "../channel/transport/limits.js";
import { type Rules as OptionRules, type Test, wholeFrom } from "../error/checked.js";
import { invalid } from "../error/clearway-error.js";
import { type CheckToken, type Rules, randomToken } from "./authorize.js";

export interface WebSocketServerOptions extends TransportLimits {
  /** An existing server to attach to. Default: a new server, on `host` and `port`. */
  readonly server?: Pick<Server, "on" | "off" | "listeners" | "address">;
  /** Port of the new server. Default: 0, which means any free port. */
  readonly port?: number;
  /** Address of the new server. Default: 127.0.0.1, which other machines cannot reach. */
  readonly host?: string;
  /** Path of the channel. Default: "/". */
  readonly path?: string;
  /**
   * The token that a client must send, or a function that checks the client's token. If the function's promise rejects, the
   * client is refused. Default: a random token, which is the result's `token`. False: no token is needed, so every program on
   * this machine may connect.
   */
  readonly token?: string | CheckToken | false;
  /**
   * Origins whose pages may connect, such as "https://example.com". Default: the server's own origin, if its host name is a
   * loopback name. Programs other than browsers send no origin. The token protects against such programs.
   */
  readonly origins?: readonly string[];
  /** Whether other machines may connect. If true, put TLS in front of the server. Default: false. */
  readonly remote?: boolean;
  /** Maximum number of connections at the same time. Default: 64. */
  readonly connectionsMax?: number;
  /** Maximum time to accept a client, including the check of its token, in milliseconds. Default: 10,000. */
  readonly handshakeMs?: number;
  /**
   * Interval of pings, in milliseconds. The server ends a connection that sends nothing for one interval after a ping. Default:
   * 15,000.
   */
  readonly pingMs?: number;
  /**
   * Called with an error of the function that serves a connection. Default: `console.error`, except for errors that any client
   * can cause. These have the codes `transport-closed` (the client left before its hello), `deadline` (it sent no hello in
   * time) and `protocol` (it sent something else).
   */
  readonly onError?: (error: unknown, request: IncomingMessage) => void;
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
