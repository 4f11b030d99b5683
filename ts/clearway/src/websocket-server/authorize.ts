// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage } from "node:http";
import { offeredToken } from "../websocket/subprotocol.js";
import { isLoopbackAddress, originAllowed } from "./origin.js";
import { sameToken } from "./token.js";

/** Looks at a token that is not compared with one text; may look somewhere else for it. */
export type CheckToken = (token: string, request: IncomingMessage) => boolean | Promise<boolean>;

/** What a request is judged by. */
export interface Rules {
  readonly path: string;
  /** False: there is none. */
  readonly token: string | CheckToken | false;
  readonly origins: readonly string[] | undefined;
  readonly remote: boolean;
  readonly connectionsMax: number;
}

/** A refusal, as an HTTP status and a sentence. */
export type Refusal = readonly [status: number, why: string];

/**
 * Whether a request to connect is let in: undefined, or the refusal. What costs nothing is looked at first; nothing of the
 * connection is kept meanwhile but its socket.
 */
export async function authorize(
  request: IncomingMessage,
  connections: number,
  rules: Rules,
): Promise<Refusal | undefined> {
  const { headers, socket } = request;
  if (pathOf(request) !== rules.path) return [404, "no channel here"];
  if (!rules.remote && !isLoopbackAddress(socket.remoteAddress)) return [403, "from this machine only"];
  if (!originAllowed(headers.origin, headers.host, rules.origins)) return [403, "pages of this origin may not connect"];
  if (connections >= rules.connectionsMax) return [503, "too many connections"];
  if (rules.token === false) return undefined;
  const token = tokenOf(request);
  if (token === undefined) return [401, "a token is needed"];
  const right = typeof rules.token === "string" ? sameToken(token, rules.token) : await rules.token(token, request);
  return right === true ? undefined : [401, "the token is wrong"];
}

/** The path that was asked for, without its query. */
export function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/";
}

// A page has the subprotocols' header alone; other programs may send the usual one.
function tokenOf({ headers }: IncomingMessage): string | undefined {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((each) => each.trim());
  return offeredToken(offered) ?? /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
}
