// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";

/** A request that names this server. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly method: string;
  /** The decoded path. It begins with a slash, and may have dots and several slashes. */
  readonly path: string;
  /** The text after the question mark, not decoded. */
  readonly query: string;
}

/** Answers a request. May throw, and may be async. */
export type Answer = (asked: Asked, response: ServerResponse) => unknown;

export interface LocalServerOptions {
  /** The port. Default: any free one. */
  readonly port?: number;
  /** The permitted methods. Default: GET and HEAD. */
  readonly methods?: readonly string[];
  /** How long an idle connection stays open, in milliseconds. Default: 5000. */
  readonly keepAliveMs?: number;
  /** More connections are closed at once. Default: 256. */
  readonly connectionsMax?: number;
  /** Receives what `answer` threw, unless the client has gone. Default: nothing does. */
  readonly onError?: (error: unknown) => void;
}

export interface LocalServer {
  readonly port: number;
  /** The address of the server, with a slash at its end. */
  readonly url: string;
  /** Ends the server and all connections. */
  close(): Promise<void>;
}

export function serveLocally(answer: Answer, options?: LocalServerOptions): Promise<LocalServer>;
export function typeOf(name: string): string;
export function refuse(response: ServerResponse, status: number): void;
export function sendFile(
  folder: string,
  name: string,
  response: ServerResponse,
  headers?: OutgoingHttpHeaders,
): Promise<void>;
export function sendPieces(
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
): Promise<void>;
export function isInside(root: string, file: string): boolean;
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | "too large" | "incomplete">;
