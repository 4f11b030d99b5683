// SPDX-License-Identifier: MIT OR Apache-2.0
import type { CloseCode, CloseReason } from "../channel/transport/transport.js";
import { invalid } from "../error/clearway-error.js";
import { clearInterval, setImmediate, setInterval, unref } from "../globals.js";

/**
 * The parts of a standard WebSocket that Clearway uses. The socket is a browser's, Node's own (22 and newer), or one of the
 * package `ws`.
 */
export interface WebSocketLike {
  binaryType: string;
  readonly protocol: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  /** Queues a message for sending. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** Begins the closing handshake. */
  close(code?: number, reason?: string): void;
  /** Adds a listener for the connection's events. */
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
  /** Removes a listener. */
  removeEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}

/** A socket of the package `ws`, with methods that are not in the standard. */
export interface NodeSocket extends WebSocketLike {
  /** Stops reading messages until `resume()`. TCP then slows the sender down. */
  pause?(): void;
  resume?(): void;
  /** Ends the connection without waiting for the other end. */
  terminate?(): void;
  /** Asks the other end for a pong. */
  ping?(): void;
  /** Adds a listener for an event that the standard does not have. */
  on?(type: "ping" | "pong", listener: () => void): unknown;
  readonly isPaused?: boolean;
  readonly _socket?: Link;
}

/** What Node's sockets know of the bytes that move. */
export interface Link {
  readonly bytesRead?: number;
  /** Counts the bytes that the system has not taken. Node's own `setTimeout` of a socket reads it, too. */
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

/** A class whose instances are such sockets. */
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

/** The standard's numbers for `readyState`. */
export const connecting = 0;
export const isOpen = 1;
export const isClosed = 3;

/** The parts of the standard's events that Clearway uses. */
export interface SocketEvents {
  open: object;
  message: { readonly data: unknown };
  close: { readonly code: number; readonly reason: string };
  /** Browsers set neither part. */
  error: { readonly message?: string; readonly error?: { readonly code?: string; readonly message?: string } };
}

/** Adds a listener and returns a function that removes it. */
export function listen<T extends keyof SocketEvents>(
  socket: WebSocketLike,
  type: T,
  listener: (event: SocketEvents[T]) => void,
): () => void {
  const heard = listener as (event: object) => void;
  socket.addEventListener(type, heard);
  return () => socket.removeEventListener(type, heard);
}

/**
 * Returns a function that says whether bytes have arrived or left since its last call. While a large frame moves over a slow network, a ping
 * or its answer waits behind the frame.
 */
export function movement(link: () => Link | undefined): () => boolean {
  let last = "";
  return () => {
    const { bytesRead, _handle } = link() ?? {};
    const before = last;
    last = `${bytesRead} ${_handle?.writeQueueSize}`;
    return last !== before;
  };
}

/**
 * Pings the other end of a client's socket every `pingMs` milliseconds. Calls `abort` if no byte has moved for one interval after a ping, not
 * even those of the answer. A broken network reports nothing: without this, a client that waits for events would wait for ever. Does nothing
 * for a socket that cannot ping, such as a browser's.
 */
export function keepAlive(socket: NodeSocket, pingMs: number, abort: (reason: CloseReason) => void): void {
  if (typeof socket.ping !== "function" || typeof socket.on !== "function") return;
  let alive = true;
  const heard = (): void => {
    alive = true;
  };
  const moved = movement(() => socket._socket);
  socket.on("ping", heard);
  socket.on("pong", heard);
  const check = (): void => {
    // A socket that is paused reads no answer.
    if (!moved() && !alive && socket.isPaused !== true) {
      stop();
      return abort({ code: "lost", message: `no answer to a ping within ${pingMs} ms` });
    }
    alive = socket.readyState === connecting;
    // A socket that closes sends nothing, and has one more interval.
    if (!alive) socket.ping?.();
  };
  // If this thread was blocked, an answer may wait that it has not read yet. It is read before `setImmediate` calls back.
  const timer = setInterval(() => setImmediate(check), pingMs);
  unref(timer);
  const stops = [listen(socket, "message", heard), listen(socket, "close", () => stop())];
  const stop = (): void => {
    alive = true; // for a check that is due already
    clearInterval(timer);
    for (const each of stops) each();
  };
}

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

// Back-pressure between two ends of Clearway. After each half of its own window, the sender sends a mark. The mark is the total number of
// bytes that the sender has sent. The receiver echoes the mark when it has taken all frames before the mark. The two ends therefore need
// not agree on a window. Marks are text messages, because frames are binary messages:
//
//   "mark 1048600"      bytes of all frames that the sender has sent so far; each frame counts 8 bytes more than it has
//   "taken 1048600"     the receiver has taken these bytes

const form = /^(mark|taken) (\d{1,16})$/;

interface Mark {
  readonly kind: "mark" | "taken";
  readonly total: number;
}

export function markText(kind: Mark["kind"], total: number): string {
  return `${kind} ${total}`;
}

/** Reads a mark or an echo. Returns undefined for any other text. */
export function readMark(text: string): Mark | undefined {
  const [, kind, total] = form.exec(text) ?? [];
  return kind === undefined ? undefined : { kind: kind as Mark["kind"], total: Number(total) };
}

/** The sender's side of the window. Changes only its own counts, and sends nothing itself. */
export class MarkedWindow {
  readonly #windowBytes: number;
  #sent = 0;
  #marked = 0;
  #taken = 0;
  #full = false;

  constructor(windowBytes: number) {
    this.#windowBytes = windowBytes;
  }

  get full(): boolean {
    return this.#full;
  }

  /** Counts sent bytes. Returns the mark to send after these bytes. Returns undefined if no mark is due. */
  sent(bytes: number): number | undefined {
    this.#sent += bytes;
    if (this.#sent - this.#taken >= this.#windowBytes) this.#full = true;
    const due = (this.#sent - this.#marked) * 2 >= this.#windowBytes;
    if (due) this.#marked = this.#sent;
    return due ? this.#sent : undefined;
  }

  /** Returns a mark for all bytes sent so far. Used after frames that were sent without marks. */
  markAll(): number {
    this.#marked = this.#sent;
    return this.#sent;
  }

  /** Handles an echoed mark. Returns undefined for a total that is no new echo. Otherwise returns whether to call `drained`. */
  taken(total: number): boolean | undefined {
    if (total <= this.#taken || total > this.#marked) return undefined;
    this.#taken = total;
    if (!this.#full || (this.#sent - total) * 2 > this.#windowBytes) return false;
    this.#full = false;
    return true;
  }
}
