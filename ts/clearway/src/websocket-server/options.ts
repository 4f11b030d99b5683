// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, Server } from "node:http";
import { type TransportLimits, transportLimits } from "../channel/transport/limits.js";
import { invalid } from "../error/clearway-error.js";
import type { CheckToken, Rules } from "./authorize.js";
import { randomToken } from "./token.js";

export interface WebSocketServerOptions extends TransportLimits {
  /** An existing server to attach to. Default: the channels' own server, on `host` and `port`. */
  readonly server?: Pick<Server, "on" | "off" | "listeners" | "address">;
  /** The port of the own server. Default: 0, any free port. */
  readonly port?: number;
  /** The address of the own server. Default: 127.0.0.1, which no other machine reaches. */
  readonly host?: string;
  /** The path of the channel. Default: "/". */
  readonly path?: string;
  /**
   * The token that a client must send, or a function that checks it (a rejected promise refuses the client). Default: a random token, in
   * the result's `token`. False: no token, so every program on this machine may connect.
   */
  readonly token?: string | CheckToken | false;
  /**
   * Origins whose pages may connect, such as "https://example.com". Default: the server's own origin, under a name of this machine.
   * Programs other than browsers send no origin; the token protects against them.
   */
  readonly origins?: readonly string[];
  /** Whether other machines may connect. Default: false. Put TLS in front of it. */
  readonly remote?: boolean;
  /** Most connections at the same time. Default: 64. */
  readonly connectionsMax?: number;
  /** Time limit of accepting a client, including the token's check, in milliseconds. Default: 10,000. */
  readonly handshakeMs?: number;
  /** Interval of pings, in milliseconds. A connection that sends nothing for one interval after a ping is ended. Default: 15,000. */
  readonly pingMs?: number;
  /**
   * Receives errors of the function for connections. Default: `console.error`, except for errors that any client can cause: it left
   * before its hello, sent none in time, or sent something else (`transport-closed`, `deadline`, `protocol`).
   */
  readonly onError?: (error: unknown, request: IncomingMessage) => void;
}

/** The options with all defaults filled in. */
export interface ServerRules extends Required<TransportLimits>, Rules {
  readonly host: string;
  readonly port: number;
  readonly handshakeMs: number;
  readonly pingMs: number;
  readonly onError: WebSocketServerOptions["onError"];
}

/** Returns the validated options, with defaults. Throws `invalid-argument`. */
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
