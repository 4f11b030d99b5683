// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage } from "node:http";
import { offeredToken } from "../websocket/subprotocol.js";
import { isLoopbackAddress, originAllowed } from "./origin.js";
import { sameToken } from "./token.js";

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
export interface Usage {
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
