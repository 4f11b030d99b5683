// SPDX-License-Identifier: MIT OR Apache-2.0
import { invalid } from "../error/clearway-error.js";

// The subprotocols that a client offers in the header `Sec-WebSocket-Protocol`. spec/websocket.md explains why the token is one
// of them.

/** Clearway's subprotocol. If both ends use it, they send marks and echoes of marks as text messages (`mark.ts`). */
export const subprotocol = "clearway.channel.1";

const tokenPrefix = "clearway.token.";
// Maximum length of a token, in characters. Clearway's own keys and signed tokens are shorter. Common servers refuse a header
// of 8 KiB.
const tokenLengthMax = 2048;
// Characters of a token. A subprotocol may contain all of them (it is a token of RFC 9110), but not the characters `/` and `=`
// of base64.
const tokenCharacters = /^[\w.~+-]+$/;

/** Returns the subprotocols that a client offers. Throws `invalid-argument` for a token that a header cannot contain. */
export function offers(token: string | undefined): string[] {
  if (token === undefined) return [subprotocol];
  if (typeof token !== "string" || token.length > tokenLengthMax || !tokenCharacters.test(token))
    // The error does not contain the token, because error messages are logged.
    throw invalid(
      "token",
      `1 to ${tokenLengthMax} letters, digits or any of - _ . ~ +`,
      `${typeof token} of ${String(token).length}`,
    );
  return [subprotocol, tokenPrefix + token];
}

/** Returns the token among the offered subprotocols. Returns undefined if there is none. */
export function offeredToken(offered: Iterable<string>): string | undefined {
  for (const each of offered) if (each.startsWith(tokenPrefix)) return each.slice(tokenPrefix.length);
  return undefined;
}
