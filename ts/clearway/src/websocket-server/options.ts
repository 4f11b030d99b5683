// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, Server } from "node:http";
import { type TransportLimits, transportLimits } from "../channel/transport/limits.js";
import { invalid } from "../error/clearway-error.js";
import type { CheckToken, Rules } from "./authorize.js";
import { randomToken } from "./token.js";

export interface WebSocketServerOptions extends TransportLimits {
  /** A server of yours that it is attached to. Left out: one of its own, on `host` and `port`. */
  readonly server?: Pick<Server, "on" | "off" | "listeners" | "address">;
  /** The port of its own server; default 0: one that is free. */
  readonly port?: number;
  /** The address of its own server; default 127.0.0.1: nobody else's machine reaches it. */
  readonly host?: string;
  /** The path of the channel; default "/". */
  readonly path?: string;
  /**
   * What a client has to show, or a function that says whether it is right (a rejection is a no). Left out: a random one, in
   * the result's `token`. False: none, so that every program on this machine may connect.
   */
  readonly token?: string | CheckToken | false;
  /**
   * The origins whose pages may connect, such as "https://example.com". Left out: the server's own, under a name of this
   * machine. Programs that are not browsers send no origin; the token is for them.
   */
  readonly origins?: readonly string[];
  /** Whether connections from other machines are let in; default false. Put TLS in front of it. */
  readonly remote?: boolean;
  /** How many connections there may be at once; default 64. */
  readonly connectionsMax?: number;
  /** How long a client may take to be let in, its token's check included, in milliseconds; default 10,000. */
  readonly handshakeMs?: number;
  /** A connection that was silent for so long is pinged, and ended after as long again; default 15,000 milliseconds. */
  readonly pingMs?: number;
  /**
   * Receives what the function for connections threw. Default: `console.error`, except for what any client can cause at will: it
   * left before its hello, said none in time, or something else (`transport-closed`, `deadline`, `protocol`).
   */
  readonly onError?: (error: unknown, request: IncomingMessage) => void;
}

/** The options, complete. */
export interface ServerRules extends Required<TransportLimits>, Rules {
  readonly host: string;
  readonly port: number;
  readonly handshakeMs: number;
  readonly pingMs: number;
  readonly onError: WebSocketServerOptions["onError"];
}

/** The options, checked and complete. Throws `invalid-argument`. */
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
