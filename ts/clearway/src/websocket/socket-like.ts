// SPDX-License-Identifier: MIT OR Apache-2.0

/** A WebSocket as the standard has it, by what is used of it: a browser's, Node's own (22 and up), or that of the package `ws`. */
export interface WebSocketLike {
  binaryType: string;
  readonly protocol: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
  removeEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}

/** What `ws` has beyond the standard. */
export interface NodeSocket extends WebSocketLike {
  /** No message is read until `resume()`, so that the sender feels it. */
  pause?(): void;
  resume?(): void;
  /** Ends the connection without the other end's consent. */
  terminate?(): void;
}

/** The class of such sockets. */
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

/** The standard's numbers for `readyState`. */
export const connecting = 0;
export const isOpen = 1;
export const isClosed = 3;

/** What is used of the standard's events. */
export interface SocketEvents {
  open: object;
  message: { readonly data: unknown };
  close: { readonly code: number; readonly reason: string };
  /** Browsers do not say more. */
  error: { readonly message?: string; readonly error?: { readonly code?: string; readonly message?: string } };
}

/** Listens, and returns how to stop. */
export function listen<T extends keyof SocketEvents>(
  socket: WebSocketLike,
  type: T,
  listener: (event: SocketEvents[T]) => void,
): () => void {
  const heard = listener as (event: object) => void;
  socket.addEventListener(type, heard);
  return () => socket.removeEventListener(type, heard);
}
