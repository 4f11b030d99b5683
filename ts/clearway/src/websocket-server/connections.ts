// SPDX-License-Identifier: MIT OR Apache-2.0
import type { WebSocket } from "ws";
import type { CloseReason } from "../channel/transport/transport.js";
import { clearInterval, OwnPromise, setImmediate, setInterval, type Timer } from "../globals.js";
import type { SocketTransport } from "../websocket/socket-transport.js";

interface Connection {
  readonly transport: SocketTransport;
  /** Whether a message, a ping or a pong has arrived since the last check. */
  alive: boolean;
}

// If more bytes than this wait to be sent, a ping is not answered. The pong would arrive too late to be useful.
const pongBytesMax = 1 << 20;

/** The open connections. Sends a ping over each connection, and aborts a connection that does not answer. */
export class Connections {
  readonly #open = new Map<WebSocket, Connection>();
  readonly #pingMs: number;
  #timer: Timer | undefined;
  #emptied: (() => void)[] = [];

  constructor(pingMs: number) {
    this.#pingMs = pingMs;
  }

  get size(): number {
    return this.#open.size;
  }

  add(socket: WebSocket, transport: SocketTransport): void {
    const connection = { transport, alive: true };
    const alive = (): void => {
      connection.alive = true;
    };
    this.#open.set(socket, connection);
    this.#timer ??= setInterval(() => this.#checkConnections(), this.#pingMs);
    socket.on("pong", alive);
    socket.on("message", alive);
    // The option `autoPong` of `ws` is off: answers to a client that sends pings and never reads would fill the memory.
    socket.on("ping", (data) => {
      alive();
      if (socket.readyState === socket.OPEN && socket.bufferedAmount < pongBytesMax) socket.pong(data);
    });
    socket.on("close", () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      for (const each of this.#emptied.splice(0)) each();
    });
  }

  /** Closes all connections. Settles when no connection is left. */
  async close(reason: CloseReason): Promise<void> {
    if (this.#open.size === 0) return;
    const emptied = new OwnPromise<void>((resolve) => this.#emptied.push(resolve));
    for (const { transport } of this.#open.values()) transport.close(reason);
    await emptied;
  }

  #checkConnections(): void {
    for (const [socket, connection] of this.#open) {
      if (connection.alive) this.#ping(socket, connection);
      // If this thread was blocked, messages may wait that it has not read yet. They are read before `setImmediate` calls back.
      else setImmediate(() => this.#abortIfSilent(socket, connection));
    }
  }

  #abortIfSilent(socket: WebSocket, connection: Connection): void {
    // A paused socket does not read pongs, so a missing pong does not mean that the client is gone.
    if (connection.alive || socket.isPaused) return this.#ping(socket, connection);
    connection.transport.abort({ code: "timeout", message: `no answer to a ping within ${this.#pingMs} ms` });
  }

  #ping(socket: WebSocket, connection: Connection): void {
    connection.alive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }
}
