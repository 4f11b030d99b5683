// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseCode, CloseReason } from "../channel/transport/transport.js";

// Converts close reasons to status codes and back. A browser may send only 1000 and 3000 to 4999, so Clearway's codes are in the range
// for private use. spec/websocket.md has the table.

const statusOf: Readonly<Record<CloseCode, number>> = {
  closed: 1000,
  lost: 4001,
  protocol: 4002,
  "too-large": 4003,
  refused: 4004,
  timeout: 4005,
  failed: 4006,
};

/** The standard's codes, as browsers, proxies and `ws` send them. */
const standard: Readonly<Record<number, CloseCode>> = {
  1000: "closed",
  1001: "closed", // a page was left, a server shuts down
  1002: "protocol",
  1003: "protocol",
  1005: "closed", // closed without a code
  1006: "lost", // never sent: the connection broke
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

/** Returns status code and text. The text has at most 123 bytes, the room of a close frame, and ends between two characters. */
export function closeStatus({ code, message }: CloseReason): [status: number, text: string] {
  const { read } = new TextEncoder().encodeInto(message, new Uint8Array(123));
  return [statusOf[code], message.slice(0, read)];
}

/** Returns the reason of a close event. `detail` holds a code that is not Clearway's. */
export function readStatus(status: number, text: string): CloseReason {
  const own = ours.get(status);
  if (own !== undefined) return { code: own, message: text || own };
  const code = standard[status] ?? "closed";
  const message = text || (code === "lost" ? "the connection broke" : `closed with status ${status}`);
  return { code, message, detail: { closeCode: status } };
}
