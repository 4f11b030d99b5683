// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../error/clearway-error.js";

// What a client offers in the header `Sec-WebSocket-Protocol`. spec/websocket.md says why the token is part of it.

/** Both ends are Clearway's: marks and their echoes cross as text messages. */
export const subprotocol = "clearway.channel.1";

const tokenPrefix = "clearway.token.";
// Longer than any key or signed token of Clearway's. Common servers refuse a header of 8 KiB.
const tokenLengthMax = 2048;
// A subprotocol is a token of RFC 9110, without the characters that base64 ends and pads with.
const tokenCharacters = /^[\w.~+-]+$/;

/** Returns the subprotocols that a client offers. Throws `invalid-argument` for a token that a header cannot contain. */
export function offers(token: string | undefined): string[] {
  if (token === undefined) return [subprotocol];
  if (typeof token !== "string" || token.length > tokenLengthMax || !tokenCharacters.test(token))
    // The error does not contain the token, because messages are logged.
    throw invalid(
      "token",
      `1 to ${tokenLengthMax} letters, digits or any of - _ . ~ +`,
      `${typeof token} of ${String(token).length}`,
    );
  return [subprotocol, tokenPrefix + token];
}

/** Returns the token among the offered subprotocols. */
export function offeredToken(offered: Iterable<string>): string | undefined {
  for (const each of offered) if (each.startsWith(tokenPrefix)) return each.slice(tokenPrefix.length);
  return undefined;
}
