// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseCode, CloseReason } from "../channel/transport/transport.js";

// Converts close reasons to WebSocket status codes and back. A browser may send only the codes 1000 and 3000 to 4999.
// Clearway's codes are in the range for private use, from 4000 on. spec/websocket.md has the table.

const statusOf: Readonly<Record<CloseCode, number>> = {
  closed: 1000,
  lost: 4001,
  protocol: 4002,
  "too-large": 4003,
  refused: 4004,
  timeout: 4005,
  failed: 4006,
};

/** Close codes for the standard's status codes, which browsers, proxies and `ws` send. */
const standard: Readonly<Record<number, CloseCode>> = {
  1000: "closed",
  1001: "closed", // the page was left, or the server shuts down
  1002: "protocol",
  1003: "protocol",
  1005: "closed", // closed without a code
  1006: "lost", // not sent by a peer: the connection broke
  1007: "protocol",
  1008: "refused",
  1009: "too-large",
  1010: "failed",
  1011: "failed",
  1012: "closed",
  1013: "refused",
  1014: "failed",
  1015: "failed",
};

const ours = new Map(Object.entries(statusOf).map(([code, status]) => [status, code as CloseCode]));

/**
 * Returns the status code and the text for a reason. The text has at most 123 bytes in UTF-8, because a close frame has no room
 * for more. The text ends between two characters.
 */
export function closeStatus({ code, message }: CloseReason): [status: number, text: string] {
  const { read } = new TextEncoder().encodeInto(message, new Uint8Array(123));
  return [statusOf[code], message.slice(0, read)];
}

/** Returns the reason of a close event. If the status code is not Clearway's, `detail` holds it. */
export function readStatus(status: number, text: string): CloseReason {
  const own = ours.get(status);
  if (own !== undefined) return { code: own, message: text || own };
  const code = standard[status] ?? "closed";
  const message = text || (code === "lost" ? "the connection broke" : `closed with status ${status}`);
  return { code, message, detail: { closeCode: status } };
}
