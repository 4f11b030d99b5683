// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, Server } from "node:http";
import { type TransportLimits, transportLimits } from "../channel/transport/limits.js";
import { invalid } from "../error/clearway-error.js";
import type { CheckToken, Rules } from "./authorize.js";
import { randomToken } from "./token.js";

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
  readonly host: string;
  readonly port: number;
  readonly handshakeMs: number;
  readonly pingMs: number;
  readonly onError: WebSocketServerOptions["onError"];
}

/** Returns the options with defaults filled in. Throws `invalid-argument` for an option that is not valid. */
export function serverOptions(given: WebSocketServerOptions): ServerRules {
  const limits = transportLimits(given);
  const { path = "/", token = randomToken(), remote = false } = given;
  if (!path.startsWith("/") || path.includes("?")) throw invalid("path", 'a path such as "/channel"', path);
  if (token === "") throw invalid("token", "a text that is not empty, a function or false", token);
  return {
    ...limits,
    host: given.host ?? "127.0.0.1",
    port: given.port ?? 0,
    origins: given.origins,
    path,
    token,
    remote,
    connectionsMax: positive("connectionsMax", given.connectionsMax ?? 64),
    handshakeMs: positive("handshakeMs", given.handshakeMs ?? 10_000),
    pingMs: positive("pingMs", given.pingMs ?? 15_000),
    onError: given.onError,
  };
}

function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= 0x7fff_ffff) return value;
  throw invalid(name, "a whole number from 1 to 2147483647", value);
}
