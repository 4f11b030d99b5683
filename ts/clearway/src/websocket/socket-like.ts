// SPDX-License-Identifier: MIT OR Apache-2.0

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
